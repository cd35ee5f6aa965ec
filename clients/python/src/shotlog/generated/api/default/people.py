from http import HTTPStatus
from typing import Any

import httpx

from ... import errors
from ...client import AuthenticatedClient, Client
from ...models.people_list import PeopleList
from ...types import UNSET, Response, Unset


def _get_kwargs(
    *,
    collection: str | Unset = UNSET,
    text: str | Unset = UNSET,
    limit: int | Unset = 100,
    cursor: str | Unset = UNSET,
) -> dict[str, Any]:

    params: dict[str, Any] = {}

    params["collection"] = collection

    params["text"] = text

    params["limit"] = limit

    params["cursor"] = cursor

    params = {k: v for k, v in params.items() if v is not UNSET and v is not None}

    _kwargs: dict[str, Any] = {
        "method": "get",
        "url": "/people",
        "params": params,
    }

    return _kwargs


def _parse_response(*, client: AuthenticatedClient | Client, response: httpx.Response) -> PeopleList | None:
    if response.status_code == 200:
        response_200 = PeopleList.from_dict(response.json())

        return response_200

    if client.raise_on_unexpected_status:
        raise errors.UnexpectedStatus(response.status_code, response.content)
    else:
        return None


def _build_response(
    *, client: AuthenticatedClient | Client, response: httpx.Response
) -> Response[PeopleList]:
    return Response(
        status_code=HTTPStatus(response.status_code),
        content=response.content,
        headers=response.headers,
        parsed=_parse_response(client=client, response=response),
    )


def sync_detailed(
    *,
    client: AuthenticatedClient | Client,
    collection: str | Unset = UNSET,
    text: str | Unset = UNSET,
    limit: int | Unset = 100,
    cursor: str | Unset = UNSET,
) -> Response[PeopleList]:
    """List people by name.

     Lists the names that corrections gave to speakers and people, over all videos that the token
    gives access to, sorted by name. The same name in several videos, or of several speakers and
    people in one video, is one person. Names are compared without case and surrounding spaces.

    Args:
        collection (str | Unset):
        text (str | Unset):
        limit (int | Unset):  Default: 100.
        cursor (str | Unset):

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        Response[PeopleList]
    """

    kwargs = _get_kwargs(
        collection=collection,
        text=text,
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
    collection: str | Unset = UNSET,
    text: str | Unset = UNSET,
    limit: int | Unset = 100,
    cursor: str | Unset = UNSET,
) -> PeopleList | None:
    """List people by name.

     Lists the names that corrections gave to speakers and people, over all videos that the token
    gives access to, sorted by name. The same name in several videos, or of several speakers and
    people in one video, is one person. Names are compared without case and surrounding spaces.

    Args:
        collection (str | Unset):
        text (str | Unset):
        limit (int | Unset):  Default: 100.
        cursor (str | Unset):

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        PeopleList
    """

    return sync_detailed(
        client=client,
        collection=collection,
        text=text,
        limit=limit,
        cursor=cursor,
    ).parsed


async def asyncio_detailed(
    *,
    client: AuthenticatedClient | Client,
    collection: str | Unset = UNSET,
    text: str | Unset = UNSET,
    limit: int | Unset = 100,
    cursor: str | Unset = UNSET,
) -> Response[PeopleList]:
    """List people by name.

     Lists the names that corrections gave to speakers and people, over all videos that the token
    gives access to, sorted by name. The same name in several videos, or of several speakers and
    people in one video, is one person. Names are compared without case and surrounding spaces.

    Args:
        collection (str | Unset):
        text (str | Unset):
        limit (int | Unset):  Default: 100.
        cursor (str | Unset):

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        Response[PeopleList]
    """

    kwargs = _get_kwargs(
        collection=collection,
        text=text,
        limit=limit,
        cursor=cursor,
    )

    response = await client.get_async_httpx_client().request(**kwargs)

    return _build_response(client=client, response=response)


async def asyncio(
    *,
    client: AuthenticatedClient | Client,
    collection: str | Unset = UNSET,
    text: str | Unset = UNSET,
    limit: int | Unset = 100,
    cursor: str | Unset = UNSET,
) -> PeopleList | None:
    """List people by name.

     Lists the names that corrections gave to speakers and people, over all videos that the token
    gives access to, sorted by name. The same name in several videos, or of several speakers and
    people in one video, is one person. Names are compared without case and surrounding spaces.

    Args:
        collection (str | Unset):
        text (str | Unset):
        limit (int | Unset):  Default: 100.
        cursor (str | Unset):

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        PeopleList
    """

    return (
        await asyncio_detailed(
            client=client,
            collection=collection,
            text=text,
            limit=limit,
            cursor=cursor,
        )
    ).parsed
