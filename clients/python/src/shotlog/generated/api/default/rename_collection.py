from http import HTTPStatus
from typing import Any
from urllib.parse import quote

import httpx

from ... import errors
from ...client import AuthenticatedClient, Client
from ...models.change_accepted import ChangeAccepted
from ...models.rename_request import RenameRequest
from ...types import Response


def _get_kwargs(
    name: str,
    *,
    body: RenameRequest,
) -> dict[str, Any]:
    headers: dict[str, Any] = {}

    _kwargs: dict[str, Any] = {
        "method": "patch",
        "url": "/collections/{name}".format(
            name=quote(str(name), safe=""),
        ),
    }

    _kwargs["json"] = body.to_dict()

    headers["Content-Type"] = "application/json"

    _kwargs["headers"] = headers
    return _kwargs


def _parse_response(
    *, client: AuthenticatedClient | Client, response: httpx.Response
) -> ChangeAccepted | None:
    if response.status_code == 202:
        response_202 = ChangeAccepted.from_dict(response.json())

        return response_202

    if client.raise_on_unexpected_status:
        raise errors.UnexpectedStatus(response.status_code, response.content)
    else:
        return None


def _build_response(
    *, client: AuthenticatedClient | Client, response: httpx.Response
) -> Response[ChangeAccepted]:
    return Response(
        status_code=HTTPStatus(response.status_code),
        content=response.content,
        headers=response.headers,
        parsed=_parse_response(client=client, response=response),
    )


def sync_detailed(
    name: str,
    *,
    client: AuthenticatedClient | Client,
    body: RenameRequest,
) -> Response[ChangeAccepted]:
    """Rename a collection.

     Starts a job that moves the videos and the bins. If a collection with the new name exists, the two
    are
    merged. Running ingests still use the old name, and tokens that are limited to the old name
    are not changed.

    Args:
        name (str):
        body (RenameRequest):

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        Response[ChangeAccepted]
    """

    kwargs = _get_kwargs(
        name=name,
        body=body,
    )

    response = client.get_httpx_client().request(
        **kwargs,
    )

    return _build_response(client=client, response=response)


def sync(
    name: str,
    *,
    client: AuthenticatedClient | Client,
    body: RenameRequest,
) -> ChangeAccepted | None:
    """Rename a collection.

     Starts a job that moves the videos and the bins. If a collection with the new name exists, the two
    are
    merged. Running ingests still use the old name, and tokens that are limited to the old name
    are not changed.

    Args:
        name (str):
        body (RenameRequest):

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        ChangeAccepted
    """

    return sync_detailed(
        name=name,
        client=client,
        body=body,
    ).parsed


async def asyncio_detailed(
    name: str,
    *,
    client: AuthenticatedClient | Client,
    body: RenameRequest,
) -> Response[ChangeAccepted]:
    """Rename a collection.

     Starts a job that moves the videos and the bins. If a collection with the new name exists, the two
    are
    merged. Running ingests still use the old name, and tokens that are limited to the old name
    are not changed.

    Args:
        name (str):
        body (RenameRequest):

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        Response[ChangeAccepted]
    """

    kwargs = _get_kwargs(
        name=name,
        body=body,
    )

    response = await client.get_async_httpx_client().request(**kwargs)

    return _build_response(client=client, response=response)


async def asyncio(
    name: str,
    *,
    client: AuthenticatedClient | Client,
    body: RenameRequest,
) -> ChangeAccepted | None:
    """Rename a collection.

     Starts a job that moves the videos and the bins. If a collection with the new name exists, the two
    are
    merged. Running ingests still use the old name, and tokens that are limited to the old name
    are not changed.

    Args:
        name (str):
        body (RenameRequest):

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        ChangeAccepted
    """

    return (
        await asyncio_detailed(
            name=name,
            client=client,
            body=body,
        )
    ).parsed
