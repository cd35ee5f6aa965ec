from http import HTTPStatus
from typing import Any
from urllib.parse import quote

import httpx

from ... import errors
from ...client import AuthenticatedClient, Client
from ...models.evaluation_run_accepted import EvaluationRunAccepted
from ...models.evaluation_run_request import EvaluationRunRequest
from ...types import Response


def _get_kwargs(
    name: str,
    *,
    body: EvaluationRunRequest,
) -> dict[str, Any]:
    headers: dict[str, Any] = {}

    _kwargs: dict[str, Any] = {
        "method": "post",
        "url": "/evaluations/{name}/runs".format(
            name=quote(str(name), safe=""),
        ),
    }

    _kwargs["json"] = body.to_dict()

    headers["Content-Type"] = "application/json"

    _kwargs["headers"] = headers
    return _kwargs


def _parse_response(
    *, client: AuthenticatedClient | Client, response: httpx.Response
) -> EvaluationRunAccepted | None:
    if response.status_code == 202:
        response_202 = EvaluationRunAccepted.from_dict(response.json())

        return response_202

    if client.raise_on_unexpected_status:
        raise errors.UnexpectedStatus(response.status_code, response.content)
    else:
        return None


def _build_response(
    *, client: AuthenticatedClient | Client, response: httpx.Response
) -> Response[EvaluationRunAccepted]:
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
    body: EvaluationRunRequest,
) -> Response[EvaluationRunAccepted]:
    """Run an evaluation.

     Starts a job that runs all questions and measures the results. The run and the job have the
    same id. If a configuration makes billed language model calls, `max_model_calls` must cover
    them; otherwise the request fails, and the error states the required number.

    Args:
        name (str):
        body (EvaluationRunRequest):

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        Response[EvaluationRunAccepted]
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
    body: EvaluationRunRequest,
) -> EvaluationRunAccepted | None:
    """Run an evaluation.

     Starts a job that runs all questions and measures the results. The run and the job have the
    same id. If a configuration makes billed language model calls, `max_model_calls` must cover
    them; otherwise the request fails, and the error states the required number.

    Args:
        name (str):
        body (EvaluationRunRequest):

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        EvaluationRunAccepted
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
    body: EvaluationRunRequest,
) -> Response[EvaluationRunAccepted]:
    """Run an evaluation.

     Starts a job that runs all questions and measures the results. The run and the job have the
    same id. If a configuration makes billed language model calls, `max_model_calls` must cover
    them; otherwise the request fails, and the error states the required number.

    Args:
        name (str):
        body (EvaluationRunRequest):

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        Response[EvaluationRunAccepted]
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
    body: EvaluationRunRequest,
) -> EvaluationRunAccepted | None:
    """Run an evaluation.

     Starts a job that runs all questions and measures the results. The run and the job have the
    same id. If a configuration makes billed language model calls, `max_model_calls` must cover
    them; otherwise the request fails, and the error states the required number.

    Args:
        name (str):
        body (EvaluationRunRequest):

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        EvaluationRunAccepted
    """

    return (
        await asyncio_detailed(
            name=name,
            client=client,
            body=body,
        )
    ).parsed
