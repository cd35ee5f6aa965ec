from http import HTTPStatus
from typing import Any

import httpx

from ... import errors
from ...client import AuthenticatedClient, Client
from ...models.share_list import ShareList
from ...types import UNSET, Response, Unset


def _get_kwargs(
    *,
    video_id: str | Unset = UNSET,
    bin_id: str | Unset = UNSET,
    limit: int | Unset = 100,
    cursor: str | Unset = UNSET,
) -> dict[str, Any]:

    params: dict[str, Any] = {}

    params["video_id"] = video_id

    params["bin_id"] = bin_id

    params["limit"] = limit

    params["cursor"] = cursor

    params = {k: v for k, v in params.items() if v is not UNSET and v is not None}

    _kwargs: dict[str, Any] = {
        "method": "get",
        "url": "/shares",
        "params": params,
    }

    return _kwargs


def _parse_response(*, client: AuthenticatedClient | Client, response: httpx.Response) -> ShareList | None:
    if response.status_code == 200:
        response_200 = ShareList.from_dict(response.json())

        return response_200

    if client.raise_on_unexpected_status:
        raise errors.UnexpectedStatus(response.status_code, response.content)
    else:
        return None


def _build_response(*, client: AuthenticatedClient | Client, response: httpx.Response) -> Response[ShareList]:
    return Response(
        status_code=HTTPStatus(response.status_code),
        content=response.content,
        headers=response.headers,
        parsed=_parse_response(client=client, response=response),
    )


def sync_detailed(
    *,
    client: AuthenticatedClient | Client,
    video_id: str | Unset = UNSET,
    bin_id: str | Unset = UNSET,
    limit: int | Unset = 100,
    cursor: str | Unset = UNSET,
) -> Response[ShareList]:
    """List shares.

     Lists the shares of the videos that the token gives access to, newest first; of a share of a
    bin, the parts of these videos. Expired shares stay in the list for at least a week. A page may have
    fewer shares than `limit` although more
    follow; `next` is absent only on the last page.

    Args:
        video_id (str | Unset):
        bin_id (str | Unset):
        limit (int | Unset):  Default: 100.
        cursor (str | Unset):

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        Response[ShareList]
    """

    kwargs = _get_kwargs(
        video_id=video_id,
        bin_id=bin_id,
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
    video_id: str | Unset = UNSET,
    bin_id: str | Unset = UNSET,
    limit: int | Unset = 100,
    cursor: str | Unset = UNSET,
) -> ShareList | None:
    """List shares.

     Lists the shares of the videos that the token gives access to, newest first; of a share of a
    bin, the parts of these videos. Expired shares stay in the list for at least a week. A page may have
    fewer shares than `limit` although more
    follow; `next` is absent only on the last page.

    Args:
        video_id (str | Unset):
        bin_id (str | Unset):
        limit (int | Unset):  Default: 100.
        cursor (str | Unset):

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        ShareList
    """

    return sync_detailed(
        client=client,
        video_id=video_id,
        bin_id=bin_id,
        limit=limit,
        cursor=cursor,
    ).parsed


async def asyncio_detailed(
    *,
    client: AuthenticatedClient | Client,
    video_id: str | Unset = UNSET,
    bin_id: str | Unset = UNSET,
    limit: int | Unset = 100,
    cursor: str | Unset = UNSET,
) -> Response[ShareList]:
    """List shares.

     Lists the shares of the videos that the token gives access to, newest first; of a share of a
    bin, the parts of these videos. Expired shares stay in the list for at least a week. A page may have
    fewer shares than `limit` although more
    follow; `next` is absent only on the last page.

    Args:
        video_id (str | Unset):
        bin_id (str | Unset):
        limit (int | Unset):  Default: 100.
        cursor (str | Unset):

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        Response[ShareList]
    """

    kwargs = _get_kwargs(
        video_id=video_id,
        bin_id=bin_id,
        limit=limit,
        cursor=cursor,
    )

    response = await client.get_async_httpx_client().request(**kwargs)

    return _build_response(client=client, response=response)


async def asyncio(
    *,
    client: AuthenticatedClient | Client,
    video_id: str | Unset = UNSET,
    bin_id: str | Unset = UNSET,
    limit: int | Unset = 100,
    cursor: str | Unset = UNSET,
) -> ShareList | None:
    """List shares.

     Lists the shares of the videos that the token gives access to, newest first; of a share of a
    bin, the parts of these videos. Expired shares stay in the list for at least a week. A page may have
    fewer shares than `limit` although more
    follow; `next` is absent only on the last page.

    Args:
        video_id (str | Unset):
        bin_id (str | Unset):
        limit (int | Unset):  Default: 100.
        cursor (str | Unset):

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        ShareList
    """

    return (
        await asyncio_detailed(
            client=client,
            video_id=video_id,
            bin_id=bin_id,
            limit=limit,
            cursor=cursor,
        )
    ).parsed
