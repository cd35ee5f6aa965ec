from http import HTTPStatus
from typing import Any
from urllib.parse import quote

import httpx

from ... import errors
from ...client import AuthenticatedClient, Client
from ...types import UNSET, Response, Unset


def _get_kwargs(
    video_id: str,
    *,
    format_: str,
    wall_clock: bool | Unset = False,
    speakers: bool | Unset = False,
    start: float | Unset = UNSET,
    end: float | Unset = UNSET,
    from_zero: bool | Unset = False,
    clips: str | Unset = UNSET,
    moment_ids: str | Unset = UNSET,
) -> dict[str, Any]:

    params: dict[str, Any] = {}

    params["format"] = format_

    params["wall_clock"] = wall_clock

    params["speakers"] = speakers

    params["start"] = start

    params["end"] = end

    params["from_zero"] = from_zero

    params["clips"] = clips

    params["moment_ids"] = moment_ids

    params = {k: v for k, v in params.items() if v is not UNSET and v is not None}

    _kwargs: dict[str, Any] = {
        "method": "get",
        "url": "/videos/{video_id}/export".format(
            video_id=quote(str(video_id), safe=""),
        ),
        "params": params,
    }

    return _kwargs


def _parse_response(*, client: AuthenticatedClient | Client, response: httpx.Response) -> str | None:
    if response.status_code == 200:
        response_200 = response.text
        return response_200

    if client.raise_on_unexpected_status:
        raise errors.UnexpectedStatus(response.status_code, response.content)
    else:
        return None


def _build_response(*, client: AuthenticatedClient | Client, response: httpx.Response) -> Response[str]:
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
    format_: str,
    wall_clock: bool | Unset = False,
    speakers: bool | Unset = False,
    start: float | Unset = UNSET,
    end: float | Unset = UNSET,
    from_zero: bool | Unset = False,
    clips: str | Unset = UNSET,
    moment_ids: str | Unset = UNSET,
) -> Response[str]:
    """Export a video's log.

     `srt` and `vtt` are captions from recognized speech; `chapters.vtt` and `ffmetadata` are
    chapters. `edl` (CMX 3600), `fcpxml` (Final Cut Pro, FCPXML 1.10), `xmeml` (Premiere Pro) and
    `otio` (OpenTimelineIO) are clips of the video as a timeline, by default its chunks;
    `markers.edl` has a marker for each clip (DaVinci Resolve), `clips.csv` and `clips.md` are
    tables of the clips, and `quotes.md` and `quotes.docx` quote what is said in them. They
    contain the file's timecode and reel, and every time is a whole number of frames.
    `transcript.txt`, `transcript.md` and `transcript.docx` are the speech with speakers and
    times, and `qdpx` is a REFI-QDA project with the transcript for MAXQDA, NVivo and ATLAS.ti.
    `csv` and `json` are the complete log.

    Args:
        video_id (str):
        format_ (str):
        wall_clock (bool | Unset):  Default: False.
        speakers (bool | Unset):  Default: False.
        start (float | Unset):
        end (float | Unset):
        from_zero (bool | Unset):  Default: False.
        clips (str | Unset):
        moment_ids (str | Unset):

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        Response[str]
    """

    kwargs = _get_kwargs(
        video_id=video_id,
        format_=format_,
        wall_clock=wall_clock,
        speakers=speakers,
        start=start,
        end=end,
        from_zero=from_zero,
        clips=clips,
        moment_ids=moment_ids,
    )

    response = client.get_httpx_client().request(
        **kwargs,
    )

    return _build_response(client=client, response=response)


def sync(
    video_id: str,
    *,
    client: AuthenticatedClient | Client,
    format_: str,
    wall_clock: bool | Unset = False,
    speakers: bool | Unset = False,
    start: float | Unset = UNSET,
    end: float | Unset = UNSET,
    from_zero: bool | Unset = False,
    clips: str | Unset = UNSET,
    moment_ids: str | Unset = UNSET,
) -> str | None:
    """Export a video's log.

     `srt` and `vtt` are captions from recognized speech; `chapters.vtt` and `ffmetadata` are
    chapters. `edl` (CMX 3600), `fcpxml` (Final Cut Pro, FCPXML 1.10), `xmeml` (Premiere Pro) and
    `otio` (OpenTimelineIO) are clips of the video as a timeline, by default its chunks;
    `markers.edl` has a marker for each clip (DaVinci Resolve), `clips.csv` and `clips.md` are
    tables of the clips, and `quotes.md` and `quotes.docx` quote what is said in them. They
    contain the file's timecode and reel, and every time is a whole number of frames.
    `transcript.txt`, `transcript.md` and `transcript.docx` are the speech with speakers and
    times, and `qdpx` is a REFI-QDA project with the transcript for MAXQDA, NVivo and ATLAS.ti.
    `csv` and `json` are the complete log.

    Args:
        video_id (str):
        format_ (str):
        wall_clock (bool | Unset):  Default: False.
        speakers (bool | Unset):  Default: False.
        start (float | Unset):
        end (float | Unset):
        from_zero (bool | Unset):  Default: False.
        clips (str | Unset):
        moment_ids (str | Unset):

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        str
    """

    return sync_detailed(
        video_id=video_id,
        client=client,
        format_=format_,
        wall_clock=wall_clock,
        speakers=speakers,
        start=start,
        end=end,
        from_zero=from_zero,
        clips=clips,
        moment_ids=moment_ids,
    ).parsed


async def asyncio_detailed(
    video_id: str,
    *,
    client: AuthenticatedClient | Client,
    format_: str,
    wall_clock: bool | Unset = False,
    speakers: bool | Unset = False,
    start: float | Unset = UNSET,
    end: float | Unset = UNSET,
    from_zero: bool | Unset = False,
    clips: str | Unset = UNSET,
    moment_ids: str | Unset = UNSET,
) -> Response[str]:
    """Export a video's log.

     `srt` and `vtt` are captions from recognized speech; `chapters.vtt` and `ffmetadata` are
    chapters. `edl` (CMX 3600), `fcpxml` (Final Cut Pro, FCPXML 1.10), `xmeml` (Premiere Pro) and
    `otio` (OpenTimelineIO) are clips of the video as a timeline, by default its chunks;
    `markers.edl` has a marker for each clip (DaVinci Resolve), `clips.csv` and `clips.md` are
    tables of the clips, and `quotes.md` and `quotes.docx` quote what is said in them. They
    contain the file's timecode and reel, and every time is a whole number of frames.
    `transcript.txt`, `transcript.md` and `transcript.docx` are the speech with speakers and
    times, and `qdpx` is a REFI-QDA project with the transcript for MAXQDA, NVivo and ATLAS.ti.
    `csv` and `json` are the complete log.

    Args:
        video_id (str):
        format_ (str):
        wall_clock (bool | Unset):  Default: False.
        speakers (bool | Unset):  Default: False.
        start (float | Unset):
        end (float | Unset):
        from_zero (bool | Unset):  Default: False.
        clips (str | Unset):
        moment_ids (str | Unset):

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        Response[str]
    """

    kwargs = _get_kwargs(
        video_id=video_id,
        format_=format_,
        wall_clock=wall_clock,
        speakers=speakers,
        start=start,
        end=end,
        from_zero=from_zero,
        clips=clips,
        moment_ids=moment_ids,
    )

    response = await client.get_async_httpx_client().request(**kwargs)

    return _build_response(client=client, response=response)


async def asyncio(
    video_id: str,
    *,
    client: AuthenticatedClient | Client,
    format_: str,
    wall_clock: bool | Unset = False,
    speakers: bool | Unset = False,
    start: float | Unset = UNSET,
    end: float | Unset = UNSET,
    from_zero: bool | Unset = False,
    clips: str | Unset = UNSET,
    moment_ids: str | Unset = UNSET,
) -> str | None:
    """Export a video's log.

     `srt` and `vtt` are captions from recognized speech; `chapters.vtt` and `ffmetadata` are
    chapters. `edl` (CMX 3600), `fcpxml` (Final Cut Pro, FCPXML 1.10), `xmeml` (Premiere Pro) and
    `otio` (OpenTimelineIO) are clips of the video as a timeline, by default its chunks;
    `markers.edl` has a marker for each clip (DaVinci Resolve), `clips.csv` and `clips.md` are
    tables of the clips, and `quotes.md` and `quotes.docx` quote what is said in them. They
    contain the file's timecode and reel, and every time is a whole number of frames.
    `transcript.txt`, `transcript.md` and `transcript.docx` are the speech with speakers and
    times, and `qdpx` is a REFI-QDA project with the transcript for MAXQDA, NVivo and ATLAS.ti.
    `csv` and `json` are the complete log.

    Args:
        video_id (str):
        format_ (str):
        wall_clock (bool | Unset):  Default: False.
        speakers (bool | Unset):  Default: False.
        start (float | Unset):
        end (float | Unset):
        from_zero (bool | Unset):  Default: False.
        clips (str | Unset):
        moment_ids (str | Unset):

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        str
    """

    return (
        await asyncio_detailed(
            video_id=video_id,
            client=client,
            format_=format_,
            wall_clock=wall_clock,
            speakers=speakers,
            start=start,
            end=end,
            from_zero=from_zero,
            clips=clips,
            moment_ids=moment_ids,
        )
    ).parsed
