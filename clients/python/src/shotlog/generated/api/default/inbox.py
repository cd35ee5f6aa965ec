from http import HTTPStatus
from typing import Any

import httpx

from ... import errors
from ...client import AuthenticatedClient, Client
from ...models.alert_match_list import AlertMatchList
from ...types import UNSET, Response, Unset


def _get_kwargs(
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
        "url": "/inbox",
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
    *,
    client: AuthenticatedClient | Client,
    unread: bool | Unset = False,
    verdict: str | Unset = UNSET,
    limit: int | Unset = 50,
    cursor: str | Unset = UNSET,
) -> Response[AlertMatchList]:
    """List the matches of all alerts.

     A match is a moment that an alert found in a newly published video. Matches are listed newest
    first; those that an alert found at the same time are in the order of the video. The matches
    of deleted videos and alerts are removed. A page may have fewer matches than `limit` although
    more follow; `next` is absent only on the last page.

    Args:
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
    *,
    client: AuthenticatedClient | Client,
    unread: bool | Unset = False,
    verdict: str | Unset = UNSET,
    limit: int | Unset = 50,
    cursor: str | Unset = UNSET,
) -> AlertMatchList | None:
    """List the matches of all alerts.

     A match is a moment that an alert found in a newly published video. Matches are listed newest
    first; those that an alert found at the same time are in the order of the video. The matches
    of deleted videos and alerts are removed. A page may have fewer matches than `limit` although
    more follow; `next` is absent only on the last page.

    Args:
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
        client=client,
        unread=unread,
        verdict=verdict,
        limit=limit,
        cursor=cursor,
    ).parsed


async def asyncio_detailed(
    *,
    client: AuthenticatedClient | Client,
    unread: bool | Unset = False,
    verdict: str | Unset = UNSET,
    limit: int | Unset = 50,
    cursor: str | Unset = UNSET,
) -> Response[AlertMatchList]:
    """List the matches of all alerts.

     A match is a moment that an alert found in a newly published video. Matches are listed newest
    first; those that an alert found at the same time are in the order of the video. The matches
    of deleted videos and alerts are removed. A page may have fewer matches than `limit` although
    more follow; `next` is absent only on the last page.

    Args:
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
        unread=unread,
        verdict=verdict,
        limit=limit,
        cursor=cursor,
    )

    response = await client.get_async_httpx_client().request(**kwargs)

    return _build_response(client=client, response=response)


async def asyncio(
    *,
    client: AuthenticatedClient | Client,
    unread: bool | Unset = False,
    verdict: str | Unset = UNSET,
    limit: int | Unset = 50,
    cursor: str | Unset = UNSET,
) -> AlertMatchList | None:
    """List the matches of all alerts.

     A match is a moment that an alert found in a newly published video. Matches are listed newest
    first; those that an alert found at the same time are in the order of the video. The matches
    of deleted videos and alerts are removed. A page may have fewer matches than `limit` although
    more follow; `next` is absent only on the last page.

    Args:
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
            client=client,
            unread=unread,
            verdict=verdict,
            limit=limit,
            cursor=cursor,
        )
    ).parsed
