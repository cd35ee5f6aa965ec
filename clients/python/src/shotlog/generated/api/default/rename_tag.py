from http import HTTPStatus
from typing import Any
from urllib.parse import quote

import httpx

from ... import errors
from ...client import AuthenticatedClient, Client
from ...models.bin_ import Bin
from ...models.rename_tag_request import RenameTagRequest
from ...types import UNSET, Response, Unset


def _get_kwargs(
    bin_id: str,
    *,
    body: RenameTagRequest,
    if_match: str | Unset = UNSET,
) -> dict[str, Any]:
    headers: dict[str, Any] = {}
    if not isinstance(if_match, Unset):
        headers["If-Match"] = if_match

    _kwargs: dict[str, Any] = {
        "method": "post",
        "url": "/bins/{bin_id}/tags/rename".format(
            bin_id=quote(str(bin_id), safe=""),
        ),
    }

    _kwargs["json"] = body.to_dict()

    headers["Content-Type"] = "application/json"

    _kwargs["headers"] = headers
    return _kwargs


def _parse_response(*, client: AuthenticatedClient | Client, response: httpx.Response) -> Bin | None:
    if response.status_code == 200:
        response_200 = Bin.from_dict(response.json())

        return response_200

    if client.raise_on_unexpected_status:
        raise errors.UnexpectedStatus(response.status_code, response.content)
    else:
        return None


def _build_response(*, client: AuthenticatedClient | Client, response: httpx.Response) -> Response[Bin]:
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
    body: RenameTagRequest,
    if_match: str | Unset = UNSET,
) -> Response[Bin]:
    """Rename a tag of a bin.

     Renames the tag in all selects, as one change that can be undone. A select that already has
    the new tag gets it once, so this also merges two tags. `"to": null` removes the tag. Returns
    404 if no select has it.

    Args:
        bin_id (str):
        if_match (str | Unset):
        body (RenameTagRequest):

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        Response[Bin]
    """

    kwargs = _get_kwargs(
        bin_id=bin_id,
        body=body,
        if_match=if_match,
    )

    response = client.get_httpx_client().request(
        **kwargs,
    )

    return _build_response(client=client, response=response)


def sync(
    bin_id: str,
    *,
    client: AuthenticatedClient | Client,
    body: RenameTagRequest,
    if_match: str | Unset = UNSET,
) -> Bin | None:
    """Rename a tag of a bin.

     Renames the tag in all selects, as one change that can be undone. A select that already has
    the new tag gets it once, so this also merges two tags. `"to": null` removes the tag. Returns
    404 if no select has it.

    Args:
        bin_id (str):
        if_match (str | Unset):
        body (RenameTagRequest):

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        Bin
    """

    return sync_detailed(
        bin_id=bin_id,
        client=client,
        body=body,
        if_match=if_match,
    ).parsed


async def asyncio_detailed(
    bin_id: str,
    *,
    client: AuthenticatedClient | Client,
    body: RenameTagRequest,
    if_match: str | Unset = UNSET,
) -> Response[Bin]:
    """Rename a tag of a bin.

     Renames the tag in all selects, as one change that can be undone. A select that already has
    the new tag gets it once, so this also merges two tags. `"to": null` removes the tag. Returns
    404 if no select has it.

    Args:
        bin_id (str):
        if_match (str | Unset):
        body (RenameTagRequest):

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        Response[Bin]
    """

    kwargs = _get_kwargs(
        bin_id=bin_id,
        body=body,
        if_match=if_match,
    )

    response = await client.get_async_httpx_client().request(**kwargs)

    return _build_response(client=client, response=response)


async def asyncio(
    bin_id: str,
    *,
    client: AuthenticatedClient | Client,
    body: RenameTagRequest,
    if_match: str | Unset = UNSET,
) -> Bin | None:
    """Rename a tag of a bin.

     Renames the tag in all selects, as one change that can be undone. A select that already has
    the new tag gets it once, so this also merges two tags. `"to": null` removes the tag. Returns
    404 if no select has it.

    Args:
        bin_id (str):
        if_match (str | Unset):
        body (RenameTagRequest):

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        Bin
    """

    return (
        await asyncio_detailed(
            bin_id=bin_id,
            client=client,
            body=body,
            if_match=if_match,
        )
    ).parsed
