from http import HTTPStatus
from typing import Any
from urllib.parse import quote

import httpx

from ... import errors
from ...client import AuthenticatedClient, Client
from ...models.evaluation import Evaluation
from ...models.evaluation_request import EvaluationRequest
from ...types import Response


def _get_kwargs(
    name: str,
    *,
    body: EvaluationRequest,
) -> dict[str, Any]:
    headers: dict[str, Any] = {}

    _kwargs: dict[str, Any] = {
        "method": "put",
        "url": "/evaluations/{name}".format(
            name=quote(str(name), safe=""),
        ),
    }

    _kwargs["json"] = body.to_dict()

    headers["Content-Type"] = "application/json"

    _kwargs["headers"] = headers
    return _kwargs


def _parse_response(*, client: AuthenticatedClient | Client, response: httpx.Response) -> Evaluation | None:
    if response.status_code == 200:
        response_200 = Evaluation.from_dict(response.json())

        return response_200

    if client.raise_on_unexpected_status:
        raise errors.UnexpectedStatus(response.status_code, response.content)
    else:
        return None


def _build_response(
    *, client: AuthenticatedClient | Client, response: httpx.Response
) -> Response[Evaluation]:
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
    body: EvaluationRequest,
) -> Response[Evaluation]:
    """Create or replace an evaluation.

     Stores judged questions under a name. Previous questions are replaced; existing runs are
    kept. Judged moments are rejected if their video does not exist or if they end after the end
    of the video.

    Args:
        name (str):
        body (EvaluationRequest):

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        Response[Evaluation]
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
    body: EvaluationRequest,
) -> Evaluation | None:
    """Create or replace an evaluation.

     Stores judged questions under a name. Previous questions are replaced; existing runs are
    kept. Judged moments are rejected if their video does not exist or if they end after the end
    of the video.

    Args:
        name (str):
        body (EvaluationRequest):

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        Evaluation
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
    body: EvaluationRequest,
) -> Response[Evaluation]:
    """Create or replace an evaluation.

     Stores judged questions under a name. Previous questions are replaced; existing runs are
    kept. Judged moments are rejected if their video does not exist or if they end after the end
    of the video.

    Args:
        name (str):
        body (EvaluationRequest):

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        Response[Evaluation]
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
    body: EvaluationRequest,
) -> Evaluation | None:
    """Create or replace an evaluation.

     Stores judged questions under a name. Previous questions are replaced; existing runs are
    kept. Judged moments are rejected if their video does not exist or if they end after the end
    of the video.

    Args:
        name (str):
        body (EvaluationRequest):

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        Evaluation
    """

    return (
        await asyncio_detailed(
            name=name,
            client=client,
            body=body,
        )
    ).parsed
