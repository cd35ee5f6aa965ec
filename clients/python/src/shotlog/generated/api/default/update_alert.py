from http import HTTPStatus
from typing import Any
from urllib.parse import quote

import httpx

from ... import errors
from ...client import AuthenticatedClient, Client
from ...models.alert import Alert
from ...models.alert_update_request import AlertUpdateRequest
from ...types import Response


def _get_kwargs(
    name: str,
    *,
    body: AlertUpdateRequest,
) -> dict[str, Any]:
    headers: dict[str, Any] = {}

    _kwargs: dict[str, Any] = {
        "method": "patch",
        "url": "/alerts/{name}".format(
            name=quote(str(name), safe=""),
        ),
    }

    _kwargs["json"] = body.to_dict()

    headers["Content-Type"] = "application/json"

    _kwargs["headers"] = headers
    return _kwargs


def _parse_response(*, client: AuthenticatedClient | Client, response: httpx.Response) -> Alert | None:
    if response.status_code == 200:
        response_200 = Alert.from_dict(response.json())

        return response_200

    if client.raise_on_unexpected_status:
        raise errors.UnexpectedStatus(response.status_code, response.content)
    else:
        return None


def _build_response(*, client: AuthenticatedClient | Client, response: httpx.Response) -> Response[Alert]:
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
    body: AlertUpdateRequest,
) -> Response[Alert]:
    """Change an alert.

     Absent fields are not changed, and the alert keeps its matches. The change affects only videos
    that are ingested later. While an alert is paused, it finds nothing; the videos that are ingested
    in the meantime are not searched when it is resumed.

    Args:
        name (str):
        body (AlertUpdateRequest): Changes to an alert. Absent fields are not changed.

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        Response[Alert]
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
    body: AlertUpdateRequest,
) -> Alert | None:
    """Change an alert.

     Absent fields are not changed, and the alert keeps its matches. The change affects only videos
    that are ingested later. While an alert is paused, it finds nothing; the videos that are ingested
    in the meantime are not searched when it is resumed.

    Args:
        name (str):
        body (AlertUpdateRequest): Changes to an alert. Absent fields are not changed.

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        Alert
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
    body: AlertUpdateRequest,
) -> Response[Alert]:
    """Change an alert.

     Absent fields are not changed, and the alert keeps its matches. The change affects only videos
    that are ingested later. While an alert is paused, it finds nothing; the videos that are ingested
    in the meantime are not searched when it is resumed.

    Args:
        name (str):
        body (AlertUpdateRequest): Changes to an alert. Absent fields are not changed.

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        Response[Alert]
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
    body: AlertUpdateRequest,
) -> Alert | None:
    """Change an alert.

     Absent fields are not changed, and the alert keeps its matches. The change affects only videos
    that are ingested later. While an alert is paused, it finds nothing; the videos that are ingested
    in the meantime are not searched when it is resumed.

    Args:
        name (str):
        body (AlertUpdateRequest): Changes to an alert. Absent fields are not changed.

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        Alert
    """

    return (
        await asyncio_detailed(
            name=name,
            client=client,
            body=body,
        )
    ).parsed
