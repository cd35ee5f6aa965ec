from http import HTTPStatus
from typing import Any
from urllib.parse import quote

import httpx

from ... import errors
from ...client import AuthenticatedClient, Client
from ...models.add_selects_request import AddSelectsRequest
from ...models.bin_changed import BinChanged
from ...types import Response


def _get_kwargs(
    bin_id: str,
    *,
    body: AddSelectsRequest,
) -> dict[str, Any]:
    headers: dict[str, Any] = {}

    _kwargs: dict[str, Any] = {
        "method": "post",
        "url": "/bins/{bin_id}/selects".format(
            bin_id=quote(str(bin_id), safe=""),
        ),
    }

    _kwargs["json"] = body.to_dict()

    headers["Content-Type"] = "application/json"

    _kwargs["headers"] = headers
    return _kwargs


def _parse_response(*, client: AuthenticatedClient | Client, response: httpx.Response) -> BinChanged | None:
    if response.status_code == 200:
        response_200 = BinChanged.from_dict(response.json())

        return response_200

    if client.raise_on_unexpected_status:
        raise errors.UnexpectedStatus(response.status_code, response.content)
    else:
        return None


def _build_response(
    *, client: AuthenticatedClient | Client, response: httpx.Response
) -> Response[BinChanged]:
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
    body: AddSelectsRequest,
) -> Response[BinChanged]:
    """Add selects.

     Adds all selects or none. Never conflicts with other changes to the bin. Returns 400 if a
    video or moment does not exist, or if the bin belongs to a collection and a video does not.

    Args:
        bin_id (str):
        body (AddSelectsRequest):

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        Response[BinChanged]
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
    body: AddSelectsRequest,
) -> BinChanged | None:
    """Add selects.

     Adds all selects or none. Never conflicts with other changes to the bin. Returns 400 if a
    video or moment does not exist, or if the bin belongs to a collection and a video does not.

    Args:
        bin_id (str):
        body (AddSelectsRequest):

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        BinChanged
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
    body: AddSelectsRequest,
) -> Response[BinChanged]:
    """Add selects.

     Adds all selects or none. Never conflicts with other changes to the bin. Returns 400 if a
    video or moment does not exist, or if the bin belongs to a collection and a video does not.

    Args:
        bin_id (str):
        body (AddSelectsRequest):

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        Response[BinChanged]
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
    body: AddSelectsRequest,
) -> BinChanged | None:
    """Add selects.

     Adds all selects or none. Never conflicts with other changes to the bin. Returns 400 if a
    video or moment does not exist, or if the bin belongs to a collection and a video does not.

    Args:
        bin_id (str):
        body (AddSelectsRequest):

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        BinChanged
    """

    return (
        await asyncio_detailed(
            bin_id=bin_id,
            client=client,
            body=body,
        )
    ).parsed
