from http import HTTPStatus
from typing import Any
from urllib.parse import quote

import httpx

from ... import errors
from ...client import AuthenticatedClient, Client
from ...models.select import Select
from ...types import Response


def _get_kwargs(
    bin_id: str,
    select_id: str,
) -> dict[str, Any]:

    _kwargs: dict[str, Any] = {
        "method": "get",
        "url": "/bins/{bin_id}/selects/{select_id}".format(
            bin_id=quote(str(bin_id), safe=""),
            select_id=quote(str(select_id), safe=""),
        ),
    }

    return _kwargs


def _parse_response(*, client: AuthenticatedClient | Client, response: httpx.Response) -> Select | None:
    if response.status_code == 200:
        response_200 = Select.from_dict(response.json())

        return response_200

    if client.raise_on_unexpected_status:
        raise errors.UnexpectedStatus(response.status_code, response.content)
    else:
        return None


def _build_response(*, client: AuthenticatedClient | Client, response: httpx.Response) -> Response[Select]:
    return Response(
        status_code=HTTPStatus(response.status_code),
        content=response.content,
        headers=response.headers,
        parsed=_parse_response(client=client, response=response),
    )


def sync_detailed(
    bin_id: str,
    select_id: str,
    *,
    client: AuthenticatedClient | Client,
) -> Response[Select]:
    """Get a select.

    Args:
        bin_id (str):
        select_id (str):

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        Response[Select]
    """

    kwargs = _get_kwargs(
        bin_id=bin_id,
        select_id=select_id,
    )

    response = client.get_httpx_client().request(
        **kwargs,
    )

    return _build_response(client=client, response=response)


def sync(
    bin_id: str,
    select_id: str,
    *,
    client: AuthenticatedClient | Client,
) -> Select | None:
    """Get a select.

    Args:
        bin_id (str):
        select_id (str):

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        Select
    """

    return sync_detailed(
        bin_id=bin_id,
        select_id=select_id,
        client=client,
    ).parsed


async def asyncio_detailed(
    bin_id: str,
    select_id: str,
    *,
    client: AuthenticatedClient | Client,
) -> Response[Select]:
    """Get a select.

    Args:
        bin_id (str):
        select_id (str):

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        Response[Select]
    """

    kwargs = _get_kwargs(
        bin_id=bin_id,
        select_id=select_id,
    )

    response = await client.get_async_httpx_client().request(**kwargs)

    return _build_response(client=client, response=response)


async def asyncio(
    bin_id: str,
    select_id: str,
    *,
    client: AuthenticatedClient | Client,
) -> Select | None:
    """Get a select.

    Args:
        bin_id (str):
        select_id (str):

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        Select
    """

    return (
        await asyncio_detailed(
            bin_id=bin_id,
            select_id=select_id,
            client=client,
        )
    ).parsed
