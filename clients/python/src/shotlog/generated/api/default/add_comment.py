from http import HTTPStatus
from typing import Any
from urllib.parse import quote

import httpx

from ... import errors
from ...client import AuthenticatedClient, Client
from ...models.comment import Comment
from ...models.comment_request import CommentRequest
from ...types import Response


def _get_kwargs(
    video_id: str,
    *,
    body: CommentRequest,
) -> dict[str, Any]:
    headers: dict[str, Any] = {}

    _kwargs: dict[str, Any] = {
        "method": "post",
        "url": "/videos/{video_id}/comments".format(
            video_id=quote(str(video_id), safe=""),
        ),
    }

    _kwargs["json"] = body.to_dict()

    headers["Content-Type"] = "application/json"

    _kwargs["headers"] = headers
    return _kwargs


def _parse_response(*, client: AuthenticatedClient | Client, response: httpx.Response) -> Comment | None:
    if response.status_code == 200:
        response_200 = Comment.from_dict(response.json())

        return response_200

    if client.raise_on_unexpected_status:
        raise errors.UnexpectedStatus(response.status_code, response.content)
    else:
        return None


def _build_response(*, client: AuthenticatedClient | Client, response: httpx.Response) -> Response[Comment]:
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
    body: CommentRequest,
) -> Response[Comment]:
    """Comment on a moment of a video, or reply to a comment.

     A reply (`reply_to`) has the moment of the comment. A reply to a reply becomes a reply to the
    same comment.

    The author is the name of the token (`auth.tokens`). If the token has no name, or none is
    required, it is `author`. Returns 400 if the moment lies outside the video, or if the video
    has too many comments (`comments.max_per_video`).

    Args:
        video_id (str):
        body (CommentRequest): A comment to add.

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        Response[Comment]
    """

    kwargs = _get_kwargs(
        video_id=video_id,
        body=body,
    )

    response = client.get_httpx_client().request(
        **kwargs,
    )

    return _build_response(client=client, response=response)


def sync(
    video_id: str,
    *,
    client: AuthenticatedClient | Client,
    body: CommentRequest,
) -> Comment | None:
    """Comment on a moment of a video, or reply to a comment.

     A reply (`reply_to`) has the moment of the comment. A reply to a reply becomes a reply to the
    same comment.

    The author is the name of the token (`auth.tokens`). If the token has no name, or none is
    required, it is `author`. Returns 400 if the moment lies outside the video, or if the video
    has too many comments (`comments.max_per_video`).

    Args:
        video_id (str):
        body (CommentRequest): A comment to add.

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        Comment
    """

    return sync_detailed(
        video_id=video_id,
        client=client,
        body=body,
    ).parsed


async def asyncio_detailed(
    video_id: str,
    *,
    client: AuthenticatedClient | Client,
    body: CommentRequest,
) -> Response[Comment]:
    """Comment on a moment of a video, or reply to a comment.

     A reply (`reply_to`) has the moment of the comment. A reply to a reply becomes a reply to the
    same comment.

    The author is the name of the token (`auth.tokens`). If the token has no name, or none is
    required, it is `author`. Returns 400 if the moment lies outside the video, or if the video
    has too many comments (`comments.max_per_video`).

    Args:
        video_id (str):
        body (CommentRequest): A comment to add.

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        Response[Comment]
    """

    kwargs = _get_kwargs(
        video_id=video_id,
        body=body,
    )

    response = await client.get_async_httpx_client().request(**kwargs)

    return _build_response(client=client, response=response)


async def asyncio(
    video_id: str,
    *,
    client: AuthenticatedClient | Client,
    body: CommentRequest,
) -> Comment | None:
    """Comment on a moment of a video, or reply to a comment.

     A reply (`reply_to`) has the moment of the comment. A reply to a reply becomes a reply to the
    same comment.

    The author is the name of the token (`auth.tokens`). If the token has no name, or none is
    required, it is `author`. Returns 400 if the moment lies outside the video, or if the video
    has too many comments (`comments.max_per_video`).

    Args:
        video_id (str):
        body (CommentRequest): A comment to add.

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        Comment
    """

    return (
        await asyncio_detailed(
            video_id=video_id,
            client=client,
            body=body,
        )
    ).parsed
