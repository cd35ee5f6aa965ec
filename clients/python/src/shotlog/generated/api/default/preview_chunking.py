from http import HTTPStatus
from typing import Any
from urllib.parse import quote

import httpx

from ... import errors
from ...client import AuthenticatedClient, Client
from ...models.preview import Preview
from ...models.preview_request import PreviewRequest
from ...types import Response


def _get_kwargs(
    video_id: str,
    *,
    body: PreviewRequest,
) -> dict[str, Any]:
    headers: dict[str, Any] = {}

    _kwargs: dict[str, Any] = {
        "method": "post",
        "url": "/videos/{video_id}/chunking/preview".format(
            video_id=quote(str(video_id), safe=""),
        ),
    }

    _kwargs["json"] = body.to_dict()

    headers["Content-Type"] = "application/json"

    _kwargs["headers"] = headers
    return _kwargs


def _parse_response(*, client: AuthenticatedClient | Client, response: httpx.Response) -> Preview | None:
    if response.status_code == 200:
        response_200 = Preview.from_dict(response.json())

        return response_200

    if client.raise_on_unexpected_status:
        raise errors.UnexpectedStatus(response.status_code, response.content)
    else:
        return None


def _build_response(*, client: AuthenticatedClient | Client, response: httpx.Response) -> Response[Preview]:
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
    body: PreviewRequest,
) -> Response[Preview]:
    """Preview chunking.

     Computes how other settings would split the video, based on the signals stored at ingest.
    This decodes nothing, calls no model and changes nothing. To apply the settings, ingest the
    video again with them.

    Args:
        video_id (str):
        body (PreviewRequest): How to split a video into chunks.

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        Response[Preview]
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
    body: PreviewRequest,
) -> Preview | None:
    """Preview chunking.

     Computes how other settings would split the video, based on the signals stored at ingest.
    This decodes nothing, calls no model and changes nothing. To apply the settings, ingest the
    video again with them.

    Args:
        video_id (str):
        body (PreviewRequest): How to split a video into chunks.

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        Preview
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
    body: PreviewRequest,
) -> Response[Preview]:
    """Preview chunking.

     Computes how other settings would split the video, based on the signals stored at ingest.
    This decodes nothing, calls no model and changes nothing. To apply the settings, ingest the
    video again with them.

    Args:
        video_id (str):
        body (PreviewRequest): How to split a video into chunks.

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        Response[Preview]
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
    body: PreviewRequest,
) -> Preview | None:
    """Preview chunking.

     Computes how other settings would split the video, based on the signals stored at ingest.
    This decodes nothing, calls no model and changes nothing. To apply the settings, ingest the
    video again with them.

    Args:
        video_id (str):
        body (PreviewRequest): How to split a video into chunks.

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        Preview
    """

    return (
        await asyncio_detailed(
            video_id=video_id,
            client=client,
            body=body,
        )
    ).parsed
