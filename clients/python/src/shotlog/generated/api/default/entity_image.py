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
    entity_id: str,
    *,
    height: int | Unset = 360,
) -> dict[str, Any]:

    params: dict[str, Any] = {}

    params["height"] = height

    params = {k: v for k, v in params.items() if v is not UNSET and v is not None}

    _kwargs: dict[str, Any] = {
        "method": "get",
        "url": "/videos/{video_id}/entities/{entity_id}/image".format(
            video_id=quote(str(video_id), safe=""),
            entity_id=quote(str(entity_id), safe=""),
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
    entity_id: str,
    *,
    client: AuthenticatedClient | Client,
    height: int | Unset = 360,
) -> Response[File]:
    """Get the image of a person.

     Returns, as a JPEG, the person with a margin of 10 % on each side, cropped from the frame in
    which the person was detected with the highest confidence. Requires the `people` analyzer and
    the `entities` aggregator.

    Args:
        video_id (str):
        entity_id (str):
        height (int | Unset):  Default: 360.

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        Response[File]
    """

    kwargs = _get_kwargs(
        video_id=video_id,
        entity_id=entity_id,
        height=height,
    )

    response = client.get_httpx_client().request(
        **kwargs,
    )

    return _build_response(client=client, response=response)


def sync(
    video_id: str,
    entity_id: str,
    *,
    client: AuthenticatedClient | Client,
    height: int | Unset = 360,
) -> File | None:
    """Get the image of a person.

     Returns, as a JPEG, the person with a margin of 10 % on each side, cropped from the frame in
    which the person was detected with the highest confidence. Requires the `people` analyzer and
    the `entities` aggregator.

    Args:
        video_id (str):
        entity_id (str):
        height (int | Unset):  Default: 360.

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        File
    """

    return sync_detailed(
        video_id=video_id,
        entity_id=entity_id,
        client=client,
        height=height,
    ).parsed


async def asyncio_detailed(
    video_id: str,
    entity_id: str,
    *,
    client: AuthenticatedClient | Client,
    height: int | Unset = 360,
) -> Response[File]:
    """Get the image of a person.

     Returns, as a JPEG, the person with a margin of 10 % on each side, cropped from the frame in
    which the person was detected with the highest confidence. Requires the `people` analyzer and
    the `entities` aggregator.

    Args:
        video_id (str):
        entity_id (str):
        height (int | Unset):  Default: 360.

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        Response[File]
    """

    kwargs = _get_kwargs(
        video_id=video_id,
        entity_id=entity_id,
        height=height,
    )

    response = await client.get_async_httpx_client().request(**kwargs)

    return _build_response(client=client, response=response)


async def asyncio(
    video_id: str,
    entity_id: str,
    *,
    client: AuthenticatedClient | Client,
    height: int | Unset = 360,
) -> File | None:
    """Get the image of a person.

     Returns, as a JPEG, the person with a margin of 10 % on each side, cropped from the frame in
    which the person was detected with the highest confidence. Requires the `people` analyzer and
    the `entities` aggregator.

    Args:
        video_id (str):
        entity_id (str):
        height (int | Unset):  Default: 360.

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        File
    """

    return (
        await asyncio_detailed(
            video_id=video_id,
            entity_id=entity_id,
            client=client,
            height=height,
        )
    ).parsed
