from http import HTTPStatus
from typing import Any
from urllib.parse import quote

import httpx

from ... import errors
from ...client import AuthenticatedClient, Client
from ...models.comment_deleted import CommentDeleted
from ...types import Response


def _get_kwargs(
    video_id: str,
    comment_id: str,
) -> dict[str, Any]:

    _kwargs: dict[str, Any] = {
        "method": "delete",
        "url": "/videos/{video_id}/comments/{comment_id}".format(
            video_id=quote(str(video_id), safe=""),
            comment_id=quote(str(comment_id), safe=""),
        ),
    }

    return _kwargs


def _parse_response(
    *, client: AuthenticatedClient | Client, response: httpx.Response
) -> CommentDeleted | None:
    if response.status_code == 200:
        response_200 = CommentDeleted.from_dict(response.json())

        return response_200

    if client.raise_on_unexpected_status:
        raise errors.UnexpectedStatus(response.status_code, response.content)
    else:
        return None


def _build_response(
    *, client: AuthenticatedClient | Client, response: httpx.Response
) -> Response[CommentDeleted]:
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
) -> Response[CommentDeleted]:
    """Delete a comment.

     Replies to it stay.

    Returns 403 unless the token is that of the author, or is not limited to collections. Tokens
    without a name count as one author.

    Args:
        video_id (str):
        comment_id (str):

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        Response[CommentDeleted]
    """

    kwargs = _get_kwargs(
        video_id=video_id,
        comment_id=comment_id,
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
) -> CommentDeleted | None:
    """Delete a comment.

     Replies to it stay.

    Returns 403 unless the token is that of the author, or is not limited to collections. Tokens
    without a name count as one author.

    Args:
        video_id (str):
        comment_id (str):

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        CommentDeleted
    """

    return sync_detailed(
        video_id=video_id,
        comment_id=comment_id,
        client=client,
    ).parsed


async def asyncio_detailed(
    video_id: str,
    comment_id: str,
    *,
    client: AuthenticatedClient | Client,
) -> Response[CommentDeleted]:
    """Delete a comment.

     Replies to it stay.

    Returns 403 unless the token is that of the author, or is not limited to collections. Tokens
    without a name count as one author.

    Args:
        video_id (str):
        comment_id (str):

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        Response[CommentDeleted]
    """

    kwargs = _get_kwargs(
        video_id=video_id,
        comment_id=comment_id,
    )

    response = await client.get_async_httpx_client().request(**kwargs)

    return _build_response(client=client, response=response)


async def asyncio(
    video_id: str,
    comment_id: str,
    *,
    client: AuthenticatedClient | Client,
) -> CommentDeleted | None:
    """Delete a comment.

     Replies to it stay.

    Returns 403 unless the token is that of the author, or is not limited to collections. Tokens
    without a name count as one author.

    Args:
        video_id (str):
        comment_id (str):

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        CommentDeleted
    """

    return (
        await asyncio_detailed(
            video_id=video_id,
            comment_id=comment_id,
            client=client,
        )
    ).parsed
