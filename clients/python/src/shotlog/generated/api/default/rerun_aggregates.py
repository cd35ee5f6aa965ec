from http import HTTPStatus
from typing import Any
from urllib.parse import quote

import httpx

from ... import errors
from ...client import AuthenticatedClient, Client
from ...models.rerun_accepted import RerunAccepted
from ...models.rerun_form import RerunForm
from ...types import UNSET, Response, Unset


def _get_kwargs(
    video_id: str,
    *,
    body: RerunForm | Unset = UNSET,
    force: bool | Unset = True,
) -> dict[str, Any]:
    headers: dict[str, Any] = {}

    params: dict[str, Any] = {}

    params["force"] = force

    params = {k: v for k, v in params.items() if v is not UNSET and v is not None}

    _kwargs: dict[str, Any] = {
        "method": "post",
        "url": "/videos/{video_id}/aggregates".format(
            video_id=quote(str(video_id), safe=""),
        ),
        "params": params,
    }

    if not isinstance(body, Unset):
        _kwargs["data"] = body.to_dict()
    headers["Content-Type"] = "application/x-www-form-urlencoded"

    _kwargs["headers"] = headers
    return _kwargs


def _parse_response(
    *, client: AuthenticatedClient | Client, response: httpx.Response
) -> RerunAccepted | None:
    if response.status_code == 202:
        response_202 = RerunAccepted.from_dict(response.json())

        return response_202

    if client.raise_on_unexpected_status:
        raise errors.UnexpectedStatus(response.status_code, response.content)
    else:
        return None


def _build_response(
    *, client: AuthenticatedClient | Client, response: httpx.Response
) -> Response[RerunAccepted]:
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
    body: RerunForm | Unset = UNSET,
    force: bool | Unset = True,
) -> Response[RerunAccepted]:
    """Re-run aggregators.

     Starts a job that computes aggregates from the stored analyzer output.

    Args:
        video_id (str):
        force (bool | Unset):  Default: True.
        body (RerunForm | Unset):

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        Response[RerunAccepted]
    """

    kwargs = _get_kwargs(
        video_id=video_id,
        body=body,
        force=force,
    )

    response = client.get_httpx_client().request(
        **kwargs,
    )

    return _build_response(client=client, response=response)


def sync(
    video_id: str,
    *,
    client: AuthenticatedClient | Client,
    body: RerunForm | Unset = UNSET,
    force: bool | Unset = True,
) -> RerunAccepted | None:
    """Re-run aggregators.

     Starts a job that computes aggregates from the stored analyzer output.

    Args:
        video_id (str):
        force (bool | Unset):  Default: True.
        body (RerunForm | Unset):

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        RerunAccepted
    """

    return sync_detailed(
        video_id=video_id,
        client=client,
        body=body,
        force=force,
    ).parsed


async def asyncio_detailed(
    video_id: str,
    *,
    client: AuthenticatedClient | Client,
    body: RerunForm | Unset = UNSET,
    force: bool | Unset = True,
) -> Response[RerunAccepted]:
    """Re-run aggregators.

     Starts a job that computes aggregates from the stored analyzer output.

    Args:
        video_id (str):
        force (bool | Unset):  Default: True.
        body (RerunForm | Unset):

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        Response[RerunAccepted]
    """

    kwargs = _get_kwargs(
        video_id=video_id,
        body=body,
        force=force,
    )

    response = await client.get_async_httpx_client().request(**kwargs)

    return _build_response(client=client, response=response)


async def asyncio(
    video_id: str,
    *,
    client: AuthenticatedClient | Client,
    body: RerunForm | Unset = UNSET,
    force: bool | Unset = True,
) -> RerunAccepted | None:
    """Re-run aggregators.

     Starts a job that computes aggregates from the stored analyzer output.

    Args:
        video_id (str):
        force (bool | Unset):  Default: True.
        body (RerunForm | Unset):

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        RerunAccepted
    """

    return (
        await asyncio_detailed(
            video_id=video_id,
            client=client,
            body=body,
            force=force,
        )
    ).parsed
