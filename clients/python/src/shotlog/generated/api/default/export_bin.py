from http import HTTPStatus
from typing import Any
from urllib.parse import quote

import httpx

from ... import errors
from ...client import AuthenticatedClient, Client
from ...models.missing_videos import MissingVideos
from ...types import UNSET, Response, Unset


def _get_kwargs(
    bin_id: str,
    *,
    format_: str,
    frame_rate: str | Unset = UNSET,
    select_ids: str | Unset = UNSET,
    min_rating: int | Unset = UNSET,
    tag: str | Unset = UNSET,
    missing: MissingVideos | Unset = "refuse",
) -> dict[str, Any]:

    params: dict[str, Any] = {}

    params["format"] = format_

    params["frame_rate"] = frame_rate

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
        "url": "/bins/{bin_id}/export".format(
            bin_id=quote(str(bin_id), safe=""),
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
    bin_id: str,
    *,
    client: AuthenticatedClient | Client,
    format_: str,
    frame_rate: str | Unset = UNSET,
    select_ids: str | Unset = UNSET,
    min_rating: int | Unset = UNSET,
    tag: str | Unset = UNSET,
    missing: MissingVideos | Unset = "refuse",
) -> Response[str]:
    """Export a bin.

     The selects become clips in the order of the bin, with their trims, notes, tags and ratings:
    as a timeline (`edl`, `fcpxml`, `xmeml`, `otio`), as markers (`markers.edl`), as tables
    (`clips.csv`, `clips.md`), as quotations with speaker, timecode and link (`quotes.docx`,
    `quotes.md`), as captions of the sequence (`srt`, `vtt`), or as selections that are coded with
    their tags, for qualitative data analysis (`qdpx`, REFI-QDA). Every time is a whole number of
    frames, or of milliseconds in captions and `qdpx`. Returns 400 if there are no selects.

    Args:
        bin_id (str):
        format_ (str):
        frame_rate (str | Unset):
        select_ids (str | Unset):
        min_rating (int | Unset):
        tag (str | Unset):
        missing (MissingVideos | Unset): What to do with selects whose video is missing. Default:
            'refuse'.

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        Response[str]
    """

    kwargs = _get_kwargs(
        bin_id=bin_id,
        format_=format_,
        frame_rate=frame_rate,
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
    format_: str,
    frame_rate: str | Unset = UNSET,
    select_ids: str | Unset = UNSET,
    min_rating: int | Unset = UNSET,
    tag: str | Unset = UNSET,
    missing: MissingVideos | Unset = "refuse",
) -> str | None:
    """Export a bin.

     The selects become clips in the order of the bin, with their trims, notes, tags and ratings:
    as a timeline (`edl`, `fcpxml`, `xmeml`, `otio`), as markers (`markers.edl`), as tables
    (`clips.csv`, `clips.md`), as quotations with speaker, timecode and link (`quotes.docx`,
    `quotes.md`), as captions of the sequence (`srt`, `vtt`), or as selections that are coded with
    their tags, for qualitative data analysis (`qdpx`, REFI-QDA). Every time is a whole number of
    frames, or of milliseconds in captions and `qdpx`. Returns 400 if there are no selects.

    Args:
        bin_id (str):
        format_ (str):
        frame_rate (str | Unset):
        select_ids (str | Unset):
        min_rating (int | Unset):
        tag (str | Unset):
        missing (MissingVideos | Unset): What to do with selects whose video is missing. Default:
            'refuse'.

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        str
    """

    return sync_detailed(
        bin_id=bin_id,
        client=client,
        format_=format_,
        frame_rate=frame_rate,
        select_ids=select_ids,
        min_rating=min_rating,
        tag=tag,
        missing=missing,
    ).parsed


async def asyncio_detailed(
    bin_id: str,
    *,
    client: AuthenticatedClient | Client,
    format_: str,
    frame_rate: str | Unset = UNSET,
    select_ids: str | Unset = UNSET,
    min_rating: int | Unset = UNSET,
    tag: str | Unset = UNSET,
    missing: MissingVideos | Unset = "refuse",
) -> Response[str]:
    """Export a bin.

     The selects become clips in the order of the bin, with their trims, notes, tags and ratings:
    as a timeline (`edl`, `fcpxml`, `xmeml`, `otio`), as markers (`markers.edl`), as tables
    (`clips.csv`, `clips.md`), as quotations with speaker, timecode and link (`quotes.docx`,
    `quotes.md`), as captions of the sequence (`srt`, `vtt`), or as selections that are coded with
    their tags, for qualitative data analysis (`qdpx`, REFI-QDA). Every time is a whole number of
    frames, or of milliseconds in captions and `qdpx`. Returns 400 if there are no selects.

    Args:
        bin_id (str):
        format_ (str):
        frame_rate (str | Unset):
        select_ids (str | Unset):
        min_rating (int | Unset):
        tag (str | Unset):
        missing (MissingVideos | Unset): What to do with selects whose video is missing. Default:
            'refuse'.

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        Response[str]
    """

    kwargs = _get_kwargs(
        bin_id=bin_id,
        format_=format_,
        frame_rate=frame_rate,
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
    format_: str,
    frame_rate: str | Unset = UNSET,
    select_ids: str | Unset = UNSET,
    min_rating: int | Unset = UNSET,
    tag: str | Unset = UNSET,
    missing: MissingVideos | Unset = "refuse",
) -> str | None:
    """Export a bin.

     The selects become clips in the order of the bin, with their trims, notes, tags and ratings:
    as a timeline (`edl`, `fcpxml`, `xmeml`, `otio`), as markers (`markers.edl`), as tables
    (`clips.csv`, `clips.md`), as quotations with speaker, timecode and link (`quotes.docx`,
    `quotes.md`), as captions of the sequence (`srt`, `vtt`), or as selections that are coded with
    their tags, for qualitative data analysis (`qdpx`, REFI-QDA). Every time is a whole number of
    frames, or of milliseconds in captions and `qdpx`. Returns 400 if there are no selects.

    Args:
        bin_id (str):
        format_ (str):
        frame_rate (str | Unset):
        select_ids (str | Unset):
        min_rating (int | Unset):
        tag (str | Unset):
        missing (MissingVideos | Unset): What to do with selects whose video is missing. Default:
            'refuse'.

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        str
    """

    return (
        await asyncio_detailed(
            bin_id=bin_id,
            client=client,
            format_=format_,
            frame_rate=frame_rate,
            select_ids=select_ids,
            min_rating=min_rating,
            tag=tag,
            missing=missing,
        )
    ).parsed
