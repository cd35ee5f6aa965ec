from http import HTTPStatus
from typing import Any
from urllib.parse import quote

import httpx

from ... import errors
from ...client import AuthenticatedClient, Client
from ...models.bin_share_request import BinShareRequest
from ...models.share import Share
from ...types import Response


def _get_kwargs(
    bin_id: str,
    *,
    body: BinShareRequest,
) -> dict[str, Any]:
    headers: dict[str, Any] = {}

    _kwargs: dict[str, Any] = {
        "method": "post",
        "url": "/bins/{bin_id}/shares".format(
            bin_id=quote(str(bin_id), safe=""),
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
    bin_id: str,
    *,
    client: AuthenticatedClient | Client,
    body: BinShareRequest,
) -> Response[Share]:
    """Share selects of a bin.

     Creates a link (`url`) to a page that plays each select as a clip, in order. Like the link to a
    part of a video, it needs no token and gives access to nothing else. The share has the selects
    that the bin has now: a later change of the bin changes neither what is shared nor the link,
    and neither does its deletion. A clip disappears when its video is deleted, and the link with
    the last one. The page shows the title of each video, or its file name if it has none, and the times
    of the
    clips; notes, tags and ratings are not shared. Selects whose video is missing are left
    out.

    Returns 400 if there are no selects, if there are too many (`shares.max_parts`), if one is
    longer than a clip may be (`frames.max_clip_duration`), or if a video has too many shares
    (`shares.max_per_video`).

    Args:
        bin_id (str):
        body (BinShareRequest): Selects of a bin to share.

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        Response[Share]
    """

    kwargs = _get_kwargs(
        bin_id=bin_id,
        body=body,
    )

    response = client.get_httpx_client().request(
        **kwargs,
    )

    return _build_response(client=client, response=response)


def sync(
    bin_id: str,
    *,
    client: AuthenticatedClient | Client,
    body: BinShareRequest,
) -> Share | None:
    """Share selects of a bin.

     Creates a link (`url`) to a page that plays each select as a clip, in order. Like the link to a
    part of a video, it needs no token and gives access to nothing else. The share has the selects
    that the bin has now: a later change of the bin changes neither what is shared nor the link,
    and neither does its deletion. A clip disappears when its video is deleted, and the link with
    the last one. The page shows the title of each video, or its file name if it has none, and the times
    of the
    clips; notes, tags and ratings are not shared. Selects whose video is missing are left
    out.

    Returns 400 if there are no selects, if there are too many (`shares.max_parts`), if one is
    longer than a clip may be (`frames.max_clip_duration`), or if a video has too many shares
    (`shares.max_per_video`).

    Args:
        bin_id (str):
        body (BinShareRequest): Selects of a bin to share.

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        Share
    """

    return sync_detailed(
        bin_id=bin_id,
        client=client,
        body=body,
    ).parsed


async def asyncio_detailed(
    bin_id: str,
    *,
    client: AuthenticatedClient | Client,
    body: BinShareRequest,
) -> Response[Share]:
    """Share selects of a bin.

     Creates a link (`url`) to a page that plays each select as a clip, in order. Like the link to a
    part of a video, it needs no token and gives access to nothing else. The share has the selects
    that the bin has now: a later change of the bin changes neither what is shared nor the link,
    and neither does its deletion. A clip disappears when its video is deleted, and the link with
    the last one. The page shows the title of each video, or its file name if it has none, and the times
    of the
    clips; notes, tags and ratings are not shared. Selects whose video is missing are left
    out.

    Returns 400 if there are no selects, if there are too many (`shares.max_parts`), if one is
    longer than a clip may be (`frames.max_clip_duration`), or if a video has too many shares
    (`shares.max_per_video`).

    Args:
        bin_id (str):
        body (BinShareRequest): Selects of a bin to share.

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        Response[Share]
    """

    kwargs = _get_kwargs(
        bin_id=bin_id,
        body=body,
    )

    response = await client.get_async_httpx_client().request(**kwargs)

    return _build_response(client=client, response=response)


async def asyncio(
    bin_id: str,
    *,
    client: AuthenticatedClient | Client,
    body: BinShareRequest,
) -> Share | None:
    """Share selects of a bin.

     Creates a link (`url`) to a page that plays each select as a clip, in order. Like the link to a
    part of a video, it needs no token and gives access to nothing else. The share has the selects
    that the bin has now: a later change of the bin changes neither what is shared nor the link,
    and neither does its deletion. A clip disappears when its video is deleted, and the link with
    the last one. The page shows the title of each video, or its file name if it has none, and the times
    of the
    clips; notes, tags and ratings are not shared. Selects whose video is missing are left
    out.

    Returns 400 if there are no selects, if there are too many (`shares.max_parts`), if one is
    longer than a clip may be (`frames.max_clip_duration`), or if a video has too many shares
    (`shares.max_per_video`).

    Args:
        bin_id (str):
        body (BinShareRequest): Selects of a bin to share.

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        Share
    """

    return (
        await asyncio_detailed(
            bin_id=bin_id,
            client=client,
            body=body,
        )
    ).parsed
