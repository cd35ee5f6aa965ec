from http import HTTPStatus
from typing import Any
from urllib.parse import quote

import httpx

from ... import errors
from ...client import AuthenticatedClient, Client
from ...models.share import Share
from ...models.share_request import ShareRequest
from ...types import Response


def _get_kwargs(
    video_id: str,
    *,
    body: ShareRequest,
) -> dict[str, Any]:
    headers: dict[str, Any] = {}

    _kwargs: dict[str, Any] = {
        "method": "post",
        "url": "/videos/{video_id}/shares".format(
            video_id=quote(str(video_id), safe=""),
        ),
    }

    _kwargs["json"] = body.to_dict()

    headers["Content-Type"] = "application/json"

    _kwargs["headers"] = headers
    return _kwargs


def _parse_response(*, client: AuthenticatedClient | Client, response: httpx.Response) -> Share | None:
    if response.status_code == 201:
        response_201 = Share.from_dict(response.json())

        return response_201

    if client.raise_on_unexpected_status:
        raise errors.UnexpectedStatus(response.status_code, response.content)
    else:
        return None


def _build_response(*, client: AuthenticatedClient | Client, response: httpx.Response) -> Response[Share]:
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
    body: ShareRequest,
) -> Response[Share]:
    """Share a part of a video.

     Creates a link (`url`) to a page that plays the part of the video, with captions if there is
    speech, and offers it as a file. Whoever has the link needs no token. The link gives access to
    that part only, until it expires or is withdrawn, or until the video is deleted. The page
    shows the title and the times of the part, but not the id of the video.

    Returns 400 if the part lies outside the video, if it is longer than a clip may be
    (`frames.max_clip_duration`), or if the video has too many shares (`shares.max_per_video`).

    Args:
        video_id (str):
        body (ShareRequest): A part of a video to share.

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        Response[Share]
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
    body: ShareRequest,
) -> Share | None:
    """Share a part of a video.

     Creates a link (`url`) to a page that plays the part of the video, with captions if there is
    speech, and offers it as a file. Whoever has the link needs no token. The link gives access to
    that part only, until it expires or is withdrawn, or until the video is deleted. The page
    shows the title and the times of the part, but not the id of the video.

    Returns 400 if the part lies outside the video, if it is longer than a clip may be
    (`frames.max_clip_duration`), or if the video has too many shares (`shares.max_per_video`).

    Args:
        video_id (str):
        body (ShareRequest): A part of a video to share.

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        Share
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
    body: ShareRequest,
) -> Response[Share]:
    """Share a part of a video.

     Creates a link (`url`) to a page that plays the part of the video, with captions if there is
    speech, and offers it as a file. Whoever has the link needs no token. The link gives access to
    that part only, until it expires or is withdrawn, or until the video is deleted. The page
    shows the title and the times of the part, but not the id of the video.

    Returns 400 if the part lies outside the video, if it is longer than a clip may be
    (`frames.max_clip_duration`), or if the video has too many shares (`shares.max_per_video`).

    Args:
        video_id (str):
        body (ShareRequest): A part of a video to share.

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        Response[Share]
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
    body: ShareRequest,
) -> Share | None:
    """Share a part of a video.

     Creates a link (`url`) to a page that plays the part of the video, with captions if there is
    speech, and offers it as a file. Whoever has the link needs no token. The link gives access to
    that part only, until it expires or is withdrawn, or until the video is deleted. The page
    shows the title and the times of the part, but not the id of the video.

    Returns 400 if the part lies outside the video, if it is longer than a clip may be
    (`frames.max_clip_duration`), or if the video has too many shares (`shares.max_per_video`).

    Args:
        video_id (str):
        body (ShareRequest): A part of a video to share.

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        Share
    """

    return (
        await asyncio_detailed(
            video_id=video_id,
            client=client,
            body=body,
        )
    ).parsed
