from http import HTTPStatus
from typing import Any

import httpx

from ... import errors
from ...client import AuthenticatedClient, Client
from ...models.video_list import VideoList
from ...types import UNSET, Response, Unset


def _get_kwargs(
    *,
    limit: int | Unset = UNSET,
    offset: int | Unset = 0,
    cursor: str | Unset = UNSET,
    filename: str | Unset = UNSET,
    analyzer: str | Unset = UNSET,
    created_after: str | Unset = UNSET,
    created_before: str | Unset = UNSET,
    collection: str | Unset = UNSET,
    recorded_after: str | Unset = UNSET,
    recorded_before: str | Unset = UNSET,
    metadata: str | Unset = UNSET,
) -> dict[str, Any]:

    params: dict[str, Any] = {}

    params["limit"] = limit

    params["offset"] = offset

    params["cursor"] = cursor

    params["filename"] = filename

    params["analyzer"] = analyzer

    params["created_after"] = created_after

    params["created_before"] = created_before

    params["collection"] = collection

    params["recorded_after"] = recorded_after

    params["recorded_before"] = recorded_before

    params["metadata"] = metadata

    params = {k: v for k, v in params.items() if v is not UNSET and v is not None}

    _kwargs: dict[str, Any] = {
        "method": "get",
        "url": "/videos",
        "params": params,
    }

    return _kwargs


def _parse_response(*, client: AuthenticatedClient | Client, response: httpx.Response) -> VideoList | None:
    if response.status_code == 200:
        response_200 = VideoList.from_dict(response.json())

        return response_200

    if client.raise_on_unexpected_status:
        raise errors.UnexpectedStatus(response.status_code, response.content)
    else:
        return None


def _build_response(*, client: AuthenticatedClient | Client, response: httpx.Response) -> Response[VideoList]:
    return Response(
        status_code=HTTPStatus(response.status_code),
        content=response.content,
        headers=response.headers,
        parsed=_parse_response(client=client, response=response),
    )


def sync_detailed(
    *,
    client: AuthenticatedClient | Client,
    limit: int | Unset = UNSET,
    offset: int | Unset = 0,
    cursor: str | Unset = UNSET,
    filename: str | Unset = UNSET,
    analyzer: str | Unset = UNSET,
    created_after: str | Unset = UNSET,
    created_before: str | Unset = UNSET,
    collection: str | Unset = UNSET,
    recorded_after: str | Unset = UNSET,
    recorded_before: str | Unset = UNSET,
    metadata: str | Unset = UNSET,
) -> Response[VideoList]:
    """List videos.

     Videos are listed newest first.

    Args:
        limit (int | Unset):
        offset (int | Unset):  Default: 0.
        cursor (str | Unset):
        filename (str | Unset):
        analyzer (str | Unset):
        created_after (str | Unset):
        created_before (str | Unset):
        collection (str | Unset):
        recorded_after (str | Unset):
        recorded_before (str | Unset):
        metadata (str | Unset):

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        Response[VideoList]
    """

    kwargs = _get_kwargs(
        limit=limit,
        offset=offset,
        cursor=cursor,
        filename=filename,
        analyzer=analyzer,
        created_after=created_after,
        created_before=created_before,
        collection=collection,
        recorded_after=recorded_after,
        recorded_before=recorded_before,
        metadata=metadata,
    )

    response = client.get_httpx_client().request(
        **kwargs,
    )

    return _build_response(client=client, response=response)


def sync(
    *,
    client: AuthenticatedClient | Client,
    limit: int | Unset = UNSET,
    offset: int | Unset = 0,
    cursor: str | Unset = UNSET,
    filename: str | Unset = UNSET,
    analyzer: str | Unset = UNSET,
    created_after: str | Unset = UNSET,
    created_before: str | Unset = UNSET,
    collection: str | Unset = UNSET,
    recorded_after: str | Unset = UNSET,
    recorded_before: str | Unset = UNSET,
    metadata: str | Unset = UNSET,
) -> VideoList | None:
    """List videos.

     Videos are listed newest first.

    Args:
        limit (int | Unset):
        offset (int | Unset):  Default: 0.
        cursor (str | Unset):
        filename (str | Unset):
        analyzer (str | Unset):
        created_after (str | Unset):
        created_before (str | Unset):
        collection (str | Unset):
        recorded_after (str | Unset):
        recorded_before (str | Unset):
        metadata (str | Unset):

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        VideoList
    """

    return sync_detailed(
        client=client,
        limit=limit,
        offset=offset,
        cursor=cursor,
        filename=filename,
        analyzer=analyzer,
        created_after=created_after,
        created_before=created_before,
        collection=collection,
        recorded_after=recorded_after,
        recorded_before=recorded_before,
        metadata=metadata,
    ).parsed


async def asyncio_detailed(
    *,
    client: AuthenticatedClient | Client,
    limit: int | Unset = UNSET,
    offset: int | Unset = 0,
    cursor: str | Unset = UNSET,
    filename: str | Unset = UNSET,
    analyzer: str | Unset = UNSET,
    created_after: str | Unset = UNSET,
    created_before: str | Unset = UNSET,
    collection: str | Unset = UNSET,
    recorded_after: str | Unset = UNSET,
    recorded_before: str | Unset = UNSET,
    metadata: str | Unset = UNSET,
) -> Response[VideoList]:
    """List videos.

     Videos are listed newest first.

    Args:
        limit (int | Unset):
        offset (int | Unset):  Default: 0.
        cursor (str | Unset):
        filename (str | Unset):
        analyzer (str | Unset):
        created_after (str | Unset):
        created_before (str | Unset):
        collection (str | Unset):
        recorded_after (str | Unset):
        recorded_before (str | Unset):
        metadata (str | Unset):

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        Response[VideoList]
    """

    kwargs = _get_kwargs(
        limit=limit,
        offset=offset,
        cursor=cursor,
        filename=filename,
        analyzer=analyzer,
        created_after=created_after,
        created_before=created_before,
        collection=collection,
        recorded_after=recorded_after,
        recorded_before=recorded_before,
        metadata=metadata,
    )

    response = await client.get_async_httpx_client().request(**kwargs)

    return _build_response(client=client, response=response)


async def asyncio(
    *,
    client: AuthenticatedClient | Client,
    limit: int | Unset = UNSET,
    offset: int | Unset = 0,
    cursor: str | Unset = UNSET,
    filename: str | Unset = UNSET,
    analyzer: str | Unset = UNSET,
    created_after: str | Unset = UNSET,
    created_before: str | Unset = UNSET,
    collection: str | Unset = UNSET,
    recorded_after: str | Unset = UNSET,
    recorded_before: str | Unset = UNSET,
    metadata: str | Unset = UNSET,
) -> VideoList | None:
    """List videos.

     Videos are listed newest first.

    Args:
        limit (int | Unset):
        offset (int | Unset):  Default: 0.
        cursor (str | Unset):
        filename (str | Unset):
        analyzer (str | Unset):
        created_after (str | Unset):
        created_before (str | Unset):
        collection (str | Unset):
        recorded_after (str | Unset):
        recorded_before (str | Unset):
        metadata (str | Unset):

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        VideoList
    """

    return (
        await asyncio_detailed(
            client=client,
            limit=limit,
            offset=offset,
            cursor=cursor,
            filename=filename,
            analyzer=analyzer,
            created_after=created_after,
            created_before=created_before,
            collection=collection,
            recorded_after=recorded_after,
            recorded_before=recorded_before,
            metadata=metadata,
        )
    ).parsed
