from http import HTTPStatus
from typing import Any
from urllib.parse import quote

import httpx

from ... import errors
from ...client import AuthenticatedClient, Client
from ...models.peaks import Peaks
from ...types import UNSET, Response, Unset


def _get_kwargs(
    video_id: str,
    *,
    buckets: int | Unset = 1000,
) -> dict[str, Any]:

    params: dict[str, Any] = {}

    params["buckets"] = buckets

    params = {k: v for k, v in params.items() if v is not UNSET and v is not None}

    _kwargs: dict[str, Any] = {
        "method": "get",
        "url": "/videos/{video_id}/peaks".format(
            video_id=quote(str(video_id), safe=""),
        ),
        "params": params,
    }

    return _kwargs


def _parse_response(*, client: AuthenticatedClient | Client, response: httpx.Response) -> Peaks | None:
    if response.status_code == 200:
        response_200 = Peaks.from_dict(response.json())

        return response_200

    if client.raise_on_unexpected_status:
        raise errors.UnexpectedStatus(response.status_code, response.content)
    else:
        return None


def _build_response(*, client: AuthenticatedClient | Client, response: httpx.Response) -> Response[Peaks]:
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
    buckets: int | Unset = 1000,
) -> Response[Peaks]:
    """Get the waveform.

     Peak `n` is the maximum amplitude between `n × interval` and `(n + 1) × interval` seconds,
    where 0 is silence and 1 is full scale. All channels are mixed. The first call for a video
    decodes its audio.

    Args:
        video_id (str):
        buckets (int | Unset):  Default: 1000.

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        Response[Peaks]
    """

    kwargs = _get_kwargs(
        video_id=video_id,
        buckets=buckets,
    )

    response = client.get_httpx_client().request(
        **kwargs,
    )

    return _build_response(client=client, response=response)


def sync(
    video_id: str,
    *,
    client: AuthenticatedClient | Client,
    buckets: int | Unset = 1000,
) -> Peaks | None:
    """Get the waveform.

     Peak `n` is the maximum amplitude between `n × interval` and `(n + 1) × interval` seconds,
    where 0 is silence and 1 is full scale. All channels are mixed. The first call for a video
    decodes its audio.

    Args:
        video_id (str):
        buckets (int | Unset):  Default: 1000.

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        Peaks
    """

    return sync_detailed(
        video_id=video_id,
        client=client,
        buckets=buckets,
    ).parsed


async def asyncio_detailed(
    video_id: str,
    *,
    client: AuthenticatedClient | Client,
    buckets: int | Unset = 1000,
) -> Response[Peaks]:
    """Get the waveform.

     Peak `n` is the maximum amplitude between `n × interval` and `(n + 1) × interval` seconds,
    where 0 is silence and 1 is full scale. All channels are mixed. The first call for a video
    decodes its audio.

    Args:
        video_id (str):
        buckets (int | Unset):  Default: 1000.

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        Response[Peaks]
    """

    kwargs = _get_kwargs(
        video_id=video_id,
        buckets=buckets,
    )

    response = await client.get_async_httpx_client().request(**kwargs)

    return _build_response(client=client, response=response)


async def asyncio(
    video_id: str,
    *,
    client: AuthenticatedClient | Client,
    buckets: int | Unset = 1000,
) -> Peaks | None:
    """Get the waveform.

     Peak `n` is the maximum amplitude between `n × interval` and `(n + 1) × interval` seconds,
    where 0 is silence and 1 is full scale. All channels are mixed. The first call for a video
    decodes its audio.

    Args:
        video_id (str):
        buckets (int | Unset):  Default: 1000.

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        Peaks
    """

    return (
        await asyncio_detailed(
            video_id=video_id,
            client=client,
            buckets=buckets,
        )
    ).parsed
