from http import HTTPStatus
from typing import Any
from urllib.parse import quote

import httpx

from ... import errors
from ...client import AuthenticatedClient, Client
from ...models.alert_match_list import AlertMatchList
from ...types import UNSET, Response, Unset


def _get_kwargs(
    name: str,
    *,
    unread: bool | Unset = False,
    verdict: str | Unset = UNSET,
    limit: int | Unset = 50,
    cursor: str | Unset = UNSET,
) -> dict[str, Any]:

    params: dict[str, Any] = {}

    params["unread"] = unread

    params["verdict"] = verdict

    params["limit"] = limit

    params["cursor"] = cursor

    params = {k: v for k, v in params.items() if v is not UNSET and v is not None}

    _kwargs: dict[str, Any] = {
        "method": "get",
        "url": "/alerts/{name}/matches".format(
            name=quote(str(name), safe=""),
        ),
        "params": params,
    }

    return _kwargs


def _parse_response(
    *, client: AuthenticatedClient | Client, response: httpx.Response
) -> AlertMatchList | None:
    if response.status_code == 200:
        response_200 = AlertMatchList.from_dict(response.json())

        return response_200

    if client.raise_on_unexpected_status:
        raise errors.UnexpectedStatus(response.status_code, response.content)
    else:
        return None


def _build_response(
    *, client: AuthenticatedClient | Client, response: httpx.Response
) -> Response[AlertMatchList]:
    return Response(
        status_code=HTTPStatus(response.status_code),
        content=response.content,
        headers=response.headers,
        parsed=_parse_response(client=client, response=response),
    )


def sync_detailed(
    name: str,
    *,
    client: AuthenticatedClient | Client,
    unread: bool | Unset = False,
    verdict: str | Unset = UNSET,
    limit: int | Unset = 50,
    cursor: str | Unset = UNSET,
) -> Response[AlertMatchList]:
    """List the matches of an alert.

     Lists the moments that the alert has found, as in `GET /inbox`. The number of stored matches
    per alert is limited (`alerts.max_matches`); the newest ones are kept.

    Args:
        name (str):
        unread (bool | Unset):  Default: False.
        verdict (str | Unset):
        limit (int | Unset):  Default: 50.
        cursor (str | Unset):

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        Response[AlertMatchList]
    """

    kwargs = _get_kwargs(
        name=name,
        unread=unread,
        verdict=verdict,
        limit=limit,
        cursor=cursor,
    )

    response = client.get_httpx_client().request(
        **kwargs,
    )

    return _build_response(client=client, response=response)


def sync(
    name: str,
    *,
    client: AuthenticatedClient | Client,
    unread: bool | Unset = False,
    verdict: str | Unset = UNSET,
    limit: int | Unset = 50,
    cursor: str | Unset = UNSET,
) -> AlertMatchList | None:
    """List the matches of an alert.

     Lists the moments that the alert has found, as in `GET /inbox`. The number of stored matches
    per alert is limited (`alerts.max_matches`); the newest ones are kept.

    Args:
        name (str):
        unread (bool | Unset):  Default: False.
        verdict (str | Unset):
        limit (int | Unset):  Default: 50.
        cursor (str | Unset):

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        AlertMatchList
    """

    return sync_detailed(
        name=name,
        client=client,
        unread=unread,
        verdict=verdict,
        limit=limit,
        cursor=cursor,
    ).parsed


async def asyncio_detailed(
    name: str,
    *,
    client: AuthenticatedClient | Client,
    unread: bool | Unset = False,
    verdict: str | Unset = UNSET,
    limit: int | Unset = 50,
    cursor: str | Unset = UNSET,
) -> Response[AlertMatchList]:
    """List the matches of an alert.

     Lists the moments that the alert has found, as in `GET /inbox`. The number of stored matches
    per alert is limited (`alerts.max_matches`); the newest ones are kept.

    Args:
        name (str):
        unread (bool | Unset):  Default: False.
        verdict (str | Unset):
        limit (int | Unset):  Default: 50.
        cursor (str | Unset):

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        Response[AlertMatchList]
    """

    kwargs = _get_kwargs(
        name=name,
        unread=unread,
        verdict=verdict,
        limit=limit,
        cursor=cursor,
    )

    response = await client.get_async_httpx_client().request(**kwargs)

    return _build_response(client=client, response=response)


async def asyncio(
    name: str,
    *,
    client: AuthenticatedClient | Client,
    unread: bool | Unset = False,
    verdict: str | Unset = UNSET,
    limit: int | Unset = 50,
    cursor: str | Unset = UNSET,
) -> AlertMatchList | None:
    """List the matches of an alert.

     Lists the moments that the alert has found, as in `GET /inbox`. The number of stored matches
    per alert is limited (`alerts.max_matches`); the newest ones are kept.

    Args:
        name (str):
        unread (bool | Unset):  Default: False.
        verdict (str | Unset):
        limit (int | Unset):  Default: 50.
        cursor (str | Unset):

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        AlertMatchList
    """

    return (
        await asyncio_detailed(
            name=name,
            client=client,
            unread=unread,
            verdict=verdict,
            limit=limit,
            cursor=cursor,
        )
    ).parsed
