from http import HTTPStatus
from typing import Any
from urllib.parse import quote

import httpx

from ... import errors
from ...client import AuthenticatedClient, Client
from ...models.corrections import Corrections
from ...types import UNSET, Response, Unset


def _get_kwargs(
    video_id: str,
    *,
    aggregate: bool | Unset = UNSET,
) -> dict[str, Any]:

    params: dict[str, Any] = {}

    params["aggregate"] = aggregate

    params = {k: v for k, v in params.items() if v is not UNSET and v is not None}

    _kwargs: dict[str, Any] = {
        "method": "delete",
        "url": "/videos/{video_id}/corrections".format(
            video_id=quote(str(video_id), safe=""),
        ),
        "params": params,
    }

    return _kwargs


def _parse_response(*, client: AuthenticatedClient | Client, response: httpx.Response) -> Corrections | None:
    if response.status_code == 200:
        response_200 = Corrections.from_dict(response.json())

        return response_200

    if client.raise_on_unexpected_status:
        raise errors.UnexpectedStatus(response.status_code, response.content)
    else:
        return None


def _build_response(
    *, client: AuthenticatedClient | Client, response: httpx.Response
) -> Response[Corrections]:
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
    aggregate: bool | Unset = UNSET,
) -> Response[Corrections]:
    """Undo all corrections to a video.

    Args:
        video_id (str):
        aggregate (bool | Unset):

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        Response[Corrections]
    """

    kwargs = _get_kwargs(
        video_id=video_id,
        aggregate=aggregate,
    )

    response = client.get_httpx_client().request(
        **kwargs,
    )

    return _build_response(client=client, response=response)


def sync(
    video_id: str,
    *,
    client: AuthenticatedClient | Client,
    aggregate: bool | Unset = UNSET,
) -> Corrections | None:
    """Undo all corrections to a video.

    Args:
        video_id (str):
        aggregate (bool | Unset):

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        Corrections
    """

    return sync_detailed(
        video_id=video_id,
        client=client,
        aggregate=aggregate,
    ).parsed


async def asyncio_detailed(
    video_id: str,
    *,
    client: AuthenticatedClient | Client,
    aggregate: bool | Unset = UNSET,
) -> Response[Corrections]:
    """Undo all corrections to a video.

    Args:
        video_id (str):
        aggregate (bool | Unset):

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        Response[Corrections]
    """

    kwargs = _get_kwargs(
        video_id=video_id,
        aggregate=aggregate,
    )

    response = await client.get_async_httpx_client().request(**kwargs)

    return _build_response(client=client, response=response)


async def asyncio(
    video_id: str,
    *,
    client: AuthenticatedClient | Client,
    aggregate: bool | Unset = UNSET,
) -> Corrections | None:
    """Undo all corrections to a video.

    Args:
        video_id (str):
        aggregate (bool | Unset):

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        Corrections
    """

    return (
        await asyncio_detailed(
            video_id=video_id,
            client=client,
            aggregate=aggregate,
        )
    ).parsed
