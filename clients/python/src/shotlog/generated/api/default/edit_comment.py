from http import HTTPStatus
from typing import Any
from urllib.parse import quote

import httpx

from ... import errors
from ...client import AuthenticatedClient, Client
from ...models.comment import Comment
from ...models.comment_update_request import CommentUpdateRequest
from ...types import Response


def _get_kwargs(
    video_id: str,
    comment_id: str,
    *,
    body: CommentUpdateRequest,
) -> dict[str, Any]:
    headers: dict[str, Any] = {}

    _kwargs: dict[str, Any] = {
        "method": "patch",
        "url": "/videos/{video_id}/comments/{comment_id}".format(
            video_id=quote(str(video_id), safe=""),
            comment_id=quote(str(comment_id), safe=""),
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
    comment_id: str,
    *,
    client: AuthenticatedClient | Client,
    body: CommentUpdateRequest,
) -> Response[Comment]:
    """Change or settle a comment.

     A comment is settled (`settled`) when what it asks is answered or done; everybody who may
    write may settle it or open it again. Returns 400 for a reply, which is settled with the
    comment that it replies to.

    Returns 403 if `text` is set, unless the token is that of the author, or is not limited to
    collections. Tokens without a name count as one author.

    Args:
        video_id (str):
        comment_id (str):
        body (CommentUpdateRequest): Changes of a comment: `text`, `settled` or both.

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        Response[Comment]
    """

    kwargs = _get_kwargs(
        video_id=video_id,
        comment_id=comment_id,
        body=body,
    )

    response = client.get_httpx_client().request(
        **kwargs,
    )

    return _build_response(client=client, response=response)


def sync(
    video_id: str,
    comment_id: str,
    *,
    client: AuthenticatedClient | Client,
    body: CommentUpdateRequest,
) -> Comment | None:
    """Change or settle a comment.

     A comment is settled (`settled`) when what it asks is answered or done; everybody who may
    write may settle it or open it again. Returns 400 for a reply, which is settled with the
    comment that it replies to.

    Returns 403 if `text` is set, unless the token is that of the author, or is not limited to
    collections. Tokens without a name count as one author.

    Args:
        video_id (str):
        comment_id (str):
        body (CommentUpdateRequest): Changes of a comment: `text`, `settled` or both.

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        Comment
    """

    return sync_detailed(
        video_id=video_id,
        comment_id=comment_id,
        client=client,
        body=body,
    ).parsed


async def asyncio_detailed(
    video_id: str,
    comment_id: str,
    *,
    client: AuthenticatedClient | Client,
    body: CommentUpdateRequest,
) -> Response[Comment]:
    """Change or settle a comment.

     A comment is settled (`settled`) when what it asks is answered or done; everybody who may
    write may settle it or open it again. Returns 400 for a reply, which is settled with the
    comment that it replies to.

    Returns 403 if `text` is set, unless the token is that of the author, or is not limited to
    collections. Tokens without a name count as one author.

    Args:
        video_id (str):
        comment_id (str):
        body (CommentUpdateRequest): Changes of a comment: `text`, `settled` or both.

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        Response[Comment]
    """

    kwargs = _get_kwargs(
        video_id=video_id,
        comment_id=comment_id,
        body=body,
    )

    response = await client.get_async_httpx_client().request(**kwargs)

    return _build_response(client=client, response=response)


async def asyncio(
    video_id: str,
    comment_id: str,
    *,
    client: AuthenticatedClient | Client,
    body: CommentUpdateRequest,
) -> Comment | None:
    """Change or settle a comment.

     A comment is settled (`settled`) when what it asks is answered or done; everybody who may
    write may settle it or open it again. Returns 400 for a reply, which is settled with the
    comment that it replies to.

    Returns 403 if `text` is set, unless the token is that of the author, or is not limited to
    collections. Tokens without a name count as one author.

    Args:
        video_id (str):
        comment_id (str):
        body (CommentUpdateRequest): Changes of a comment: `text`, `settled` or both.

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        Comment
    """

    return (
        await asyncio_detailed(
            video_id=video_id,
            comment_id=comment_id,
            client=client,
            body=body,
        )
    ).parsed
