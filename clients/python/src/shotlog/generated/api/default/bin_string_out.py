from http import HTTPStatus
from io import BytesIO
from typing import Any, cast
from urllib.parse import quote

import httpx

from ... import errors
from ...client import AuthenticatedClient, Client
from ...models.missing_videos import MissingVideos
from ...types import UNSET, File, Response, Unset


def _get_kwargs(
    bin_id: str,
    *,
    handles: float | Unset = 0.0,
    max_side: int | Unset = UNSET,
    frame_rate: str | Unset = UNSET,
    captions: bool | Unset = False,
    select_ids: str | Unset = UNSET,
    min_rating: int | Unset = UNSET,
    tag: str | Unset = UNSET,
    missing: MissingVideos | Unset = "refuse",
) -> dict[str, Any]:

    params: dict[str, Any] = {}

    params["handles"] = handles

    params["max_side"] = max_side

    params["frame_rate"] = frame_rate

    params["captions"] = captions

    params["select_ids"] = select_ids

    params["min_rating"] = min_rating

    params["tag"] = tag

    json_missing: str | Unset = UNSET
    if not isinstance(missing, Unset):
        json_missing = missing

    params["missing"] = json_missing

    params = {k: v for k, v in params.items() if v is not UNSET and v is not None}

    _kwargs: dict[str, Any] = {
        "method": "get",
        "url": "/bins/{bin_id}/string-out".format(
            bin_id=quote(str(bin_id), safe=""),
        ),
        "params": params,
    }

    return _kwargs


def _parse_response(*, client: AuthenticatedClient | Client, response: httpx.Response) -> Any | File | None:
    if response.status_code == 200:
        response_200 = File(payload=BytesIO(response.content))

        return response_200

    if response.status_code == 206:
        response_206 = File(payload=BytesIO(response.content))

        return response_206

    if response.status_code == 304:
        response_304 = cast(Any, None)
        return response_304

    if client.raise_on_unexpected_status:
        raise errors.UnexpectedStatus(response.status_code, response.content)
    else:
        return None


def _build_response(
    *, client: AuthenticatedClient | Client, response: httpx.Response
) -> Response[Any | File]:
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
    handles: float | Unset = 0.0,
    max_side: int | Unset = UNSET,
    frame_rate: str | Unset = UNSET,
    captions: bool | Unset = False,
    select_ids: str | Unset = UNSET,
    min_rating: int | Unset = UNSET,
    tag: str | Unset = UNSET,
    missing: MissingVideos | Unset = "refuse",
) -> Response[Any | File]:
    """Get a bin as one video.

     Returns the selects of a bin, joined in order, as an MP4 file with H.264 and AAC. Every join
    is exact: at the same frame rate, the video has as many frames as the edit lists of the bin
    count, if `handles` is 0. Pictures of another size are scaled and padded with black; videos
    of another frame rate keep their speed. Sound without pictures is shown as black, and
    pictures without sound are silent. The response starts when the whole video has been made;
    byte ranges are supported. Returns 400 if there are too many selects (`bins.max_clips`) or
    if the video would be too long (`bins.max_string_out`), and 413 if it is too large
    (`bins.max_string_out_bytes`).

    Args:
        bin_id (str):
        handles (float | Unset):  Default: 0.0.
        max_side (int | Unset):
        frame_rate (str | Unset):
        captions (bool | Unset):  Default: False.
        select_ids (str | Unset):
        min_rating (int | Unset):
        tag (str | Unset):
        missing (MissingVideos | Unset): What to do with selects whose video is missing. Default:
            'refuse'.

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        Response[Any | File]
    """

    kwargs = _get_kwargs(
        bin_id=bin_id,
        handles=handles,
        max_side=max_side,
        frame_rate=frame_rate,
        captions=captions,
        select_ids=select_ids,
        min_rating=min_rating,
        tag=tag,
        missing=missing,
    )

    response = client.get_httpx_client().request(
        **kwargs,
    )

    return _build_response(client=client, response=response)


def sync(
    bin_id: str,
    *,
    client: AuthenticatedClient | Client,
    handles: float | Unset = 0.0,
    max_side: int | Unset = UNSET,
    frame_rate: str | Unset = UNSET,
    captions: bool | Unset = False,
    select_ids: str | Unset = UNSET,
    min_rating: int | Unset = UNSET,
    tag: str | Unset = UNSET,
    missing: MissingVideos | Unset = "refuse",
) -> Any | File | None:
    """Get a bin as one video.

     Returns the selects of a bin, joined in order, as an MP4 file with H.264 and AAC. Every join
    is exact: at the same frame rate, the video has as many frames as the edit lists of the bin
    count, if `handles` is 0. Pictures of another size are scaled and padded with black; videos
    of another frame rate keep their speed. Sound without pictures is shown as black, and
    pictures without sound are silent. The response starts when the whole video has been made;
    byte ranges are supported. Returns 400 if there are too many selects (`bins.max_clips`) or
    if the video would be too long (`bins.max_string_out`), and 413 if it is too large
    (`bins.max_string_out_bytes`).

    Args:
        bin_id (str):
        handles (float | Unset):  Default: 0.0.
        max_side (int | Unset):
        frame_rate (str | Unset):
        captions (bool | Unset):  Default: False.
        select_ids (str | Unset):
        min_rating (int | Unset):
        tag (str | Unset):
        missing (MissingVideos | Unset): What to do with selects whose video is missing. Default:
            'refuse'.

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        Any | File
    """

    return sync_detailed(
        bin_id=bin_id,
        client=client,
        handles=handles,
        max_side=max_side,
        frame_rate=frame_rate,
        captions=captions,
        select_ids=select_ids,
        min_rating=min_rating,
        tag=tag,
        missing=missing,
    ).parsed


async def asyncio_detailed(
    bin_id: str,
    *,
    client: AuthenticatedClient | Client,
    handles: float | Unset = 0.0,
    max_side: int | Unset = UNSET,
    frame_rate: str | Unset = UNSET,
    captions: bool | Unset = False,
    select_ids: str | Unset = UNSET,
    min_rating: int | Unset = UNSET,
    tag: str | Unset = UNSET,
    missing: MissingVideos | Unset = "refuse",
) -> Response[Any | File]:
    """Get a bin as one video.

     Returns the selects of a bin, joined in order, as an MP4 file with H.264 and AAC. Every join
    is exact: at the same frame rate, the video has as many frames as the edit lists of the bin
    count, if `handles` is 0. Pictures of another size are scaled and padded with black; videos
    of another frame rate keep their speed. Sound without pictures is shown as black, and
    pictures without sound are silent. The response starts when the whole video has been made;
    byte ranges are supported. Returns 400 if there are too many selects (`bins.max_clips`) or
    if the video would be too long (`bins.max_string_out`), and 413 if it is too large
    (`bins.max_string_out_bytes`).

    Args:
        bin_id (str):
        handles (float | Unset):  Default: 0.0.
        max_side (int | Unset):
        frame_rate (str | Unset):
        captions (bool | Unset):  Default: False.
        select_ids (str | Unset):
        min_rating (int | Unset):
        tag (str | Unset):
        missing (MissingVideos | Unset): What to do with selects whose video is missing. Default:
            'refuse'.

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        Response[Any | File]
    """

    kwargs = _get_kwargs(
        bin_id=bin_id,
        handles=handles,
        max_side=max_side,
        frame_rate=frame_rate,
        captions=captions,
        select_ids=select_ids,
        min_rating=min_rating,
        tag=tag,
        missing=missing,
    )

    response = await client.get_async_httpx_client().request(**kwargs)

    return _build_response(client=client, response=response)


async def asyncio(
    bin_id: str,
    *,
    client: AuthenticatedClient | Client,
    handles: float | Unset = 0.0,
    max_side: int | Unset = UNSET,
    frame_rate: str | Unset = UNSET,
    captions: bool | Unset = False,
    select_ids: str | Unset = UNSET,
    min_rating: int | Unset = UNSET,
    tag: str | Unset = UNSET,
    missing: MissingVideos | Unset = "refuse",
) -> Any | File | None:
    """Get a bin as one video.

     Returns the selects of a bin, joined in order, as an MP4 file with H.264 and AAC. Every join
    is exact: at the same frame rate, the video has as many frames as the edit lists of the bin
    count, if `handles` is 0. Pictures of another size are scaled and padded with black; videos
    of another frame rate keep their speed. Sound without pictures is shown as black, and
    pictures without sound are silent. The response starts when the whole video has been made;
    byte ranges are supported. Returns 400 if there are too many selects (`bins.max_clips`) or
    if the video would be too long (`bins.max_string_out`), and 413 if it is too large
    (`bins.max_string_out_bytes`).

    Args:
        bin_id (str):
        handles (float | Unset):  Default: 0.0.
        max_side (int | Unset):
        frame_rate (str | Unset):
        captions (bool | Unset):  Default: False.
        select_ids (str | Unset):
        min_rating (int | Unset):
        tag (str | Unset):
        missing (MissingVideos | Unset): What to do with selects whose video is missing. Default:
            'refuse'.

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        Any | File
    """

    return (
        await asyncio_detailed(
            bin_id=bin_id,
            client=client,
            handles=handles,
            max_side=max_side,
            frame_rate=frame_rate,
            captions=captions,
            select_ids=select_ids,
            min_rating=min_rating,
            tag=tag,
            missing=missing,
        )
    ).parsed
