from http import HTTPStatus
from typing import Any
from urllib.parse import quote

import httpx

from ... import errors
from ...client import AuthenticatedClient, Client
from ...models.annotate_request import AnnotateRequest
from ...models.video_detail import VideoDetail
from ...types import Response


def _get_kwargs(
    video_id: str,
    *,
    body: AnnotateRequest,
) -> dict[str, Any]:
    headers: dict[str, Any] = {}

    _kwargs: dict[str, Any] = {
        "method": "patch",
        "url": "/videos/{video_id}".format(
            video_id=quote(str(video_id), safe=""),
        ),
    }

    _kwargs["json"] = body.to_dict()

    headers["Content-Type"] = "application/json"

    _kwargs["headers"] = headers
    return _kwargs


def _parse_response(*, client: AuthenticatedClient | Client, response: httpx.Response) -> VideoDetail | None:
    if response.status_code == 200:
        response_200 = VideoDetail.from_dict(response.json())

        return response_200

    if client.raise_on_unexpected_status:
        raise errors.UnexpectedStatus(response.status_code, response.content)
    else:
        return None


def _build_response(
    *, client: AuthenticatedClient | Client, response: httpx.Response
) -> Response[VideoDetail]:
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
    body: AnnotateRequest,
) -> Response[VideoDetail]:
    """Update a video.

     Changes a video's metadata, collection or recording time. Nothing is analyzed or embedded
    again, and a running ingest of the video continues.

    Args:
        video_id (str):
        body (AnnotateRequest): Changes to a video. Absent fields are not changed.

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        Response[VideoDetail]
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
    body: AnnotateRequest,
) -> VideoDetail | None:
    """Update a video.

     Changes a video's metadata, collection or recording time. Nothing is analyzed or embedded
    again, and a running ingest of the video continues.

    Args:
        video_id (str):
        body (AnnotateRequest): Changes to a video. Absent fields are not changed.

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        VideoDetail
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
    body: AnnotateRequest,
) -> Response[VideoDetail]:
    """Update a video.

     Changes a video's metadata, collection or recording time. Nothing is analyzed or embedded
    again, and a running ingest of the video continues.

    Args:
        video_id (str):
        body (AnnotateRequest): Changes to a video. Absent fields are not changed.

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        Response[VideoDetail]
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
    body: AnnotateRequest,
) -> VideoDetail | None:
    """Update a video.

     Changes a video's metadata, collection or recording time. Nothing is analyzed or embedded
    again, and a running ingest of the video continues.

    Args:
        video_id (str):
        body (AnnotateRequest): Changes to a video. Absent fields are not changed.

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        VideoDetail
    """

    return (
        await asyncio_detailed(
            video_id=video_id,
            client=client,
            body=body,
        )
    ).parsed
