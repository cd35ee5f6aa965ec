from http import HTTPStatus
from io import BytesIO
from typing import Any, cast
from urllib.parse import quote

import httpx

from ... import errors
from ...client import AuthenticatedClient, Client
from ...types import UNSET, File, Response, Unset


def _get_kwargs(
    video_id: str,
    *,
    start: float,
    end: float,
    exact: bool | Unset = True,
    captions: bool | Unset = False,
) -> dict[str, Any]:

    params: dict[str, Any] = {}

    params["start"] = start

    params["end"] = end

    params["exact"] = exact

    params["captions"] = captions

    params = {k: v for k, v in params.items() if v is not UNSET and v is not None}

    _kwargs: dict[str, Any] = {
        "method": "get",
        "url": "/videos/{video_id}/clip".format(
            video_id=quote(str(video_id), safe=""),
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
    video_id: str,
    *,
    client: AuthenticatedClient | Client,
    start: float,
    end: float,
    exact: bool | Unset = True,
    captions: bool | Unset = False,
) -> Response[Any | File]:
    """Get a clip.

     Returns part of a video as an MP4 file, or as an M4A file if the video has no picture. If
    there is a key frame at `start`, or if `exact` is false, the streams are copied, which is
    fast. Otherwise they are re-encoded as H.264 and AAC. Byte ranges are supported.

    With `captions`, the clip is an MP4 file at the frame rate of the video (`exact_frame_rate`),
    and what is said in it is drawn into its pictures.

    Args:
        video_id (str):
        start (float):
        end (float):
        exact (bool | Unset):  Default: True.
        captions (bool | Unset):  Default: False.

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        Response[Any | File]
    """

    kwargs = _get_kwargs(
        video_id=video_id,
        start=start,
        end=end,
        exact=exact,
        captions=captions,
    )

    response = client.get_httpx_client().request(
        **kwargs,
    )

    return _build_response(client=client, response=response)


def sync(
    video_id: str,
    *,
    client: AuthenticatedClient | Client,
    start: float,
    end: float,
    exact: bool | Unset = True,
    captions: bool | Unset = False,
) -> Any | File | None:
    """Get a clip.

     Returns part of a video as an MP4 file, or as an M4A file if the video has no picture. If
    there is a key frame at `start`, or if `exact` is false, the streams are copied, which is
    fast. Otherwise they are re-encoded as H.264 and AAC. Byte ranges are supported.

    With `captions`, the clip is an MP4 file at the frame rate of the video (`exact_frame_rate`),
    and what is said in it is drawn into its pictures.

    Args:
        video_id (str):
        start (float):
        end (float):
        exact (bool | Unset):  Default: True.
        captions (bool | Unset):  Default: False.

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        Any | File
    """

    return sync_detailed(
        video_id=video_id,
        client=client,
        start=start,
        end=end,
        exact=exact,
        captions=captions,
    ).parsed


async def asyncio_detailed(
    video_id: str,
    *,
    client: AuthenticatedClient | Client,
    start: float,
    end: float,
    exact: bool | Unset = True,
    captions: bool | Unset = False,
) -> Response[Any | File]:
    """Get a clip.

     Returns part of a video as an MP4 file, or as an M4A file if the video has no picture. If
    there is a key frame at `start`, or if `exact` is false, the streams are copied, which is
    fast. Otherwise they are re-encoded as H.264 and AAC. Byte ranges are supported.

    With `captions`, the clip is an MP4 file at the frame rate of the video (`exact_frame_rate`),
    and what is said in it is drawn into its pictures.

    Args:
        video_id (str):
        start (float):
        end (float):
        exact (bool | Unset):  Default: True.
        captions (bool | Unset):  Default: False.

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        Response[Any | File]
    """

    kwargs = _get_kwargs(
        video_id=video_id,
        start=start,
        end=end,
        exact=exact,
        captions=captions,
    )

    response = await client.get_async_httpx_client().request(**kwargs)

    return _build_response(client=client, response=response)


async def asyncio(
    video_id: str,
    *,
    client: AuthenticatedClient | Client,
    start: float,
    end: float,
    exact: bool | Unset = True,
    captions: bool | Unset = False,
) -> Any | File | None:
    """Get a clip.

     Returns part of a video as an MP4 file, or as an M4A file if the video has no picture. If
    there is a key frame at `start`, or if `exact` is false, the streams are copied, which is
    fast. Otherwise they are re-encoded as H.264 and AAC. Byte ranges are supported.

    With `captions`, the clip is an MP4 file at the frame rate of the video (`exact_frame_rate`),
    and what is said in it is drawn into its pictures.

    Args:
        video_id (str):
        start (float):
        end (float):
        exact (bool | Unset):  Default: True.
        captions (bool | Unset):  Default: False.

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        Any | File
    """

    return (
        await asyncio_detailed(
            video_id=video_id,
            client=client,
            start=start,
            end=end,
            exact=exact,
            captions=captions,
        )
    ).parsed
