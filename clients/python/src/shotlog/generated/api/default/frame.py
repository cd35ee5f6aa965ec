from http import HTTPStatus
from io import BytesIO
from typing import Any
from urllib.parse import quote

import httpx

from ... import errors
from ...client import AuthenticatedClient, Client
from ...types import UNSET, File, Response, Unset


def _get_kwargs(
    video_id: str,
    *,
    t: float,
    width: int | Unset = 640,
) -> dict[str, Any]:

    params: dict[str, Any] = {}

    params["t"] = t

    params["width"] = width

    params = {k: v for k, v in params.items() if v is not UNSET and v is not None}

    _kwargs: dict[str, Any] = {
        "method": "get",
        "url": "/videos/{video_id}/frames".format(
            video_id=quote(str(video_id), safe=""),
        ),
        "params": params,
    }

    return _kwargs


def _parse_response(*, client: AuthenticatedClient | Client, response: httpx.Response) -> File | None:
    if response.status_code == 200:
        response_200 = File(payload=BytesIO(response.content))

        return response_200

    if client.raise_on_unexpected_status:
        raise errors.UnexpectedStatus(response.status_code, response.content)
    else:
        return None


def _build_response(*, client: AuthenticatedClient | Client, response: httpx.Response) -> Response[File]:
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
    t: float,
    width: int | Unset = 640,
) -> Response[File]:
    """Get a frame.

     Returns, as a JPEG, the frame that is shown at a given time.

    Args:
        video_id (str):
        t (float):
        width (int | Unset):  Default: 640.

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        Response[File]
    """

    kwargs = _get_kwargs(
        video_id=video_id,
        t=t,
        width=width,
    )

    response = client.get_httpx_client().request(
        **kwargs,
    )

    return _build_response(client=client, response=response)


def sync(
    video_id: str,
    *,
    client: AuthenticatedClient | Client,
    t: float,
    width: int | Unset = 640,
) -> File | None:
    """Get a frame.

     Returns, as a JPEG, the frame that is shown at a given time.

    Args:
        video_id (str):
        t (float):
        width (int | Unset):  Default: 640.

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        File
    """

    return sync_detailed(
        video_id=video_id,
        client=client,
        t=t,
        width=width,
    ).parsed


async def asyncio_detailed(
    video_id: str,
    *,
    client: AuthenticatedClient | Client,
    t: float,
    width: int | Unset = 640,
) -> Response[File]:
    """Get a frame.

     Returns, as a JPEG, the frame that is shown at a given time.

    Args:
        video_id (str):
        t (float):
        width (int | Unset):  Default: 640.

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        Response[File]
    """

    kwargs = _get_kwargs(
        video_id=video_id,
        t=t,
        width=width,
    )

    response = await client.get_async_httpx_client().request(**kwargs)

    return _build_response(client=client, response=response)


async def asyncio(
    video_id: str,
    *,
    client: AuthenticatedClient | Client,
    t: float,
    width: int | Unset = 640,
) -> File | None:
    """Get a frame.

     Returns, as a JPEG, the frame that is shown at a given time.

    Args:
        video_id (str):
        t (float):
        width (int | Unset):  Default: 640.

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        File
    """

    return (
        await asyncio_detailed(
            video_id=video_id,
            client=client,
            t=t,
            width=width,
        )
    ).parsed
