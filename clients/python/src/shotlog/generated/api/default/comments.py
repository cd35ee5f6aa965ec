from http import HTTPStatus
from typing import Any
from urllib.parse import quote

import httpx

from ... import errors
from ...client import AuthenticatedClient, Client
from ...models.comment_list import CommentList
from ...types import UNSET, Response, Unset


def _get_kwargs(
    video_id: str,
    *,
    after: float | Unset = UNSET,
    before: float | Unset = UNSET,
    limit: int | Unset = 100,
    cursor: str | Unset = UNSET,
) -> dict[str, Any]:

    params: dict[str, Any] = {}

    params["after"] = after

    params["before"] = before

    params["limit"] = limit

    params["cursor"] = cursor

    params = {k: v for k, v in params.items() if v is not UNSET and v is not None}

    _kwargs: dict[str, Any] = {
        "method": "get",
        "url": "/videos/{video_id}/comments".format(
            video_id=quote(str(video_id), safe=""),
        ),
        "params": params,
    }

    return _kwargs


def _parse_response(*, client: AuthenticatedClient | Client, response: httpx.Response) -> CommentList | None:
    if response.status_code == 200:
        response_200 = CommentList.from_dict(response.json())

        return response_200

    if client.raise_on_unexpected_status:
        raise errors.UnexpectedStatus(response.status_code, response.content)
    else:
        return None


def _build_response(
    *, client: AuthenticatedClient | Client, response: httpx.Response
) -> Response[CommentList]:
    return Response(
        status_code=HTTPStatus(response.status_code),
        content=response.content,
        headers=response.headers,
        parsed=_parse_response(client=client, response=response),
    )


def sync_detailed(
    video_id: str,
    *,
    client: AuthenticatedClient | Client,
    after: float | Unset = UNSET,
    before: float | Unset = UNSET,
    limit: int | Unset = 100,
    cursor: str | Unset = UNSET,
) -> Response[CommentList]:
    """List the comments on a video.

     Comments are listed in the order of their start. They stay when the video is chunked,
    analyzed or corrected again.

    Args:
        video_id (str):
        after (float | Unset):
        before (float | Unset):
        limit (int | Unset):  Default: 100.
        cursor (str | Unset):

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        Response[CommentList]
    """

    kwargs = _get_kwargs(
        video_id=video_id,
        after=after,
        before=before,
        limit=limit,
        cursor=cursor,
    )

    response = client.get_httpx_client().request(
        **kwargs,
    )

    return _build_response(client=client, response=response)


def sync(
    video_id: str,
    *,
    client: AuthenticatedClient | Client,
    after: float | Unset = UNSET,
    before: float | Unset = UNSET,
    limit: int | Unset = 100,
    cursor: str | Unset = UNSET,
) -> CommentList | None:
    """List the comments on a video.

     Comments are listed in the order of their start. They stay when the video is chunked,
    analyzed or corrected again.

    Args:
        video_id (str):
        after (float | Unset):
        before (float | Unset):
        limit (int | Unset):  Default: 100.
        cursor (str | Unset):

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        CommentList
    """

    return sync_detailed(
        video_id=video_id,
        client=client,
        after=after,
        before=before,
        limit=limit,
        cursor=cursor,
    ).parsed


async def asyncio_detailed(
    video_id: str,
    *,
    client: AuthenticatedClient | Client,
    after: float | Unset = UNSET,
    before: float | Unset = UNSET,
    limit: int | Unset = 100,
    cursor: str | Unset = UNSET,
) -> Response[CommentList]:
    """List the comments on a video.

     Comments are listed in the order of their start. They stay when the video is chunked,
    analyzed or corrected again.

    Args:
        video_id (str):
        after (float | Unset):
        before (float | Unset):
        limit (int | Unset):  Default: 100.
        cursor (str | Unset):

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        Response[CommentList]
    """

    kwargs = _get_kwargs(
        video_id=video_id,
        after=after,
        before=before,
        limit=limit,
        cursor=cursor,
    )

    response = await client.get_async_httpx_client().request(**kwargs)

    return _build_response(client=client, response=response)


async def asyncio(
    video_id: str,
    *,
    client: AuthenticatedClient | Client,
    after: float | Unset = UNSET,
    before: float | Unset = UNSET,
    limit: int | Unset = 100,
    cursor: str | Unset = UNSET,
) -> CommentList | None:
    """List the comments on a video.

     Comments are listed in the order of their start. They stay when the video is chunked,
    analyzed or corrected again.

    Args:
        video_id (str):
        after (float | Unset):
        before (float | Unset):
        limit (int | Unset):  Default: 100.
        cursor (str | Unset):

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        CommentList
    """

    return (
        await asyncio_detailed(
            video_id=video_id,
            client=client,
            after=after,
            before=before,
            limit=limit,
            cursor=cursor,
        )
    ).parsed
