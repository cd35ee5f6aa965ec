from http import HTTPStatus
from typing import Any
from urllib.parse import quote

import httpx

from ... import errors
from ...client import AuthenticatedClient, Client
from ...models.evaluation_run import EvaluationRun
from ...types import Response


def _get_kwargs(
    name: str,
    run_id: str,
) -> dict[str, Any]:

    _kwargs: dict[str, Any] = {
        "method": "get",
        "url": "/evaluations/{name}/runs/{run_id}".format(
            name=quote(str(name), safe=""),
            run_id=quote(str(run_id), safe=""),
        ),
    }

    return _kwargs


def _parse_response(
    *, client: AuthenticatedClient | Client, response: httpx.Response
) -> EvaluationRun | None:
    if response.status_code == 200:
        response_200 = EvaluationRun.from_dict(response.json())

        return response_200

    if client.raise_on_unexpected_status:
        raise errors.UnexpectedStatus(response.status_code, response.content)
    else:
        return None


def _build_response(
    *, client: AuthenticatedClient | Client, response: httpx.Response
) -> Response[EvaluationRun]:
    return Response(
        status_code=HTTPStatus(response.status_code),
        content=response.content,
        headers=response.headers,
        parsed=_parse_response(client=client, response=response),
    )


def sync_detailed(
    name: str,
    run_id: str,
    *,
    client: AuthenticatedClient | Client,
) -> Response[EvaluationRun]:
    """Get a run.

     The response includes the results for each question. Two runs with the same questions,
    models and videos differ only in ids and times.

    Args:
        name (str):
        run_id (str):

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        Response[EvaluationRun]
    """

    kwargs = _get_kwargs(
        name=name,
        run_id=run_id,
    )

    response = client.get_httpx_client().request(
        **kwargs,
    )

    return _build_response(client=client, response=response)


def sync(
    name: str,
    run_id: str,
    *,
    client: AuthenticatedClient | Client,
) -> EvaluationRun | None:
    """Get a run.

     The response includes the results for each question. Two runs with the same questions,
    models and videos differ only in ids and times.

    Args:
        name (str):
        run_id (str):

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        EvaluationRun
    """

    return sync_detailed(
        name=name,
        run_id=run_id,
        client=client,
    ).parsed


async def asyncio_detailed(
    name: str,
    run_id: str,
    *,
    client: AuthenticatedClient | Client,
) -> Response[EvaluationRun]:
    """Get a run.

     The response includes the results for each question. Two runs with the same questions,
    models and videos differ only in ids and times.

    Args:
        name (str):
        run_id (str):

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        Response[EvaluationRun]
    """

    kwargs = _get_kwargs(
        name=name,
        run_id=run_id,
    )

    response = await client.get_async_httpx_client().request(**kwargs)

    return _build_response(client=client, response=response)


async def asyncio(
    name: str,
    run_id: str,
    *,
    client: AuthenticatedClient | Client,
) -> EvaluationRun | None:
    """Get a run.

     The response includes the results for each question. Two runs with the same questions,
    models and videos differ only in ids and times.

    Args:
        name (str):
        run_id (str):

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        EvaluationRun
    """

    return (
        await asyncio_detailed(
            name=name,
            run_id=run_id,
            client=client,
        )
    ).parsed
