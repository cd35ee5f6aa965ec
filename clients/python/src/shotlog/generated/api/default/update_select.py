from http import HTTPStatus
from typing import Any
from urllib.parse import quote

import httpx

from ... import errors
from ...client import AuthenticatedClient, Client
from ...models.bin_changed import BinChanged
from ...models.select_update_request import SelectUpdateRequest
from ...types import UNSET, Response, Unset


def _get_kwargs(
    bin_id: str,
    select_id: str,
    *,
    body: SelectUpdateRequest,
    if_match: str | Unset = UNSET,
) -> dict[str, Any]:
    headers: dict[str, Any] = {}
    if not isinstance(if_match, Unset):
        headers["If-Match"] = if_match

    _kwargs: dict[str, Any] = {
        "method": "patch",
        "url": "/bins/{bin_id}/selects/{select_id}".format(
            bin_id=quote(str(bin_id), safe=""),
            select_id=quote(str(select_id), safe=""),
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
    select_id: str,
    *,
    client: AuthenticatedClient | Client,
    body: SelectUpdateRequest,
    if_match: str | Unset = UNSET,
) -> Response[BinChanged]:
    """Change the note, tags, rating or trim of a select.

    Args:
        bin_id (str):
        select_id (str):
        if_match (str | Unset):
        body (SelectUpdateRequest): Changes to a select. Absent fields are not changed.

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        Response[BinChanged]
    """

    kwargs = _get_kwargs(
        bin_id=bin_id,
        select_id=select_id,
        body=body,
        if_match=if_match,
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
    body: SelectUpdateRequest,
    if_match: str | Unset = UNSET,
) -> BinChanged | None:
    """Change the note, tags, rating or trim of a select.

    Args:
        bin_id (str):
        select_id (str):
        if_match (str | Unset):
        body (SelectUpdateRequest): Changes to a select. Absent fields are not changed.

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        BinChanged
    """

    return sync_detailed(
        bin_id=bin_id,
        select_id=select_id,
        client=client,
        body=body,
        if_match=if_match,
    ).parsed


async def asyncio_detailed(
    bin_id: str,
    select_id: str,
    *,
    client: AuthenticatedClient | Client,
    body: SelectUpdateRequest,
    if_match: str | Unset = UNSET,
) -> Response[BinChanged]:
    """Change the note, tags, rating or trim of a select.

    Args:
        bin_id (str):
        select_id (str):
        if_match (str | Unset):
        body (SelectUpdateRequest): Changes to a select. Absent fields are not changed.

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        Response[BinChanged]
    """

    kwargs = _get_kwargs(
        bin_id=bin_id,
        select_id=select_id,
        body=body,
        if_match=if_match,
    )

    response = await client.get_async_httpx_client().request(**kwargs)

    return _build_response(client=client, response=response)


async def asyncio(
    bin_id: str,
    select_id: str,
    *,
    client: AuthenticatedClient | Client,
    body: SelectUpdateRequest,
    if_match: str | Unset = UNSET,
) -> BinChanged | None:
    """Change the note, tags, rating or trim of a select.

    Args:
        bin_id (str):
        select_id (str):
        if_match (str | Unset):
        body (SelectUpdateRequest): Changes to a select. Absent fields are not changed.

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        BinChanged
    """

    return (
        await asyncio_detailed(
            bin_id=bin_id,
            select_id=select_id,
            client=client,
            body=body,
            if_match=if_match,
        )
    ).parsed
