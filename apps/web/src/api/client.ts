/** A request that was refused, in the server's words. */
export class ApiError extends Error {
  readonly status: number;
  readonly type: string;

  constructor(status: number, type: string, message: string) {
    super(message);
    this.status = status;
    this.type = type;
  }
}

/** A list is sent as `name[]=a&name[]=b`. */
export type Query = Record<string, string | number | boolean | readonly string[] | undefined>;

const address = (path: string, query: Query = {}): string => {
  const pairs = Object.entries(query).flatMap(([key, value]): string[][] => {
    if (typeof value === "object") return value.map((each) => [`${key}[]`, each]);
    return value === undefined ? [] : [[key, String(value)]];
  });
  const search = new URLSearchParams(pairs).toString();
  return search === "" ? path : `${path}?${search}`;
};

/** Somebody is told when the server says that this browser is not signed in (any more). */
let onSignedOut: () => void = () => undefined;
export const whenSignedOut = (listener: () => void): void => {
  onSignedOut = listener;
};

async function call<T>(method: string, path: string, body?: unknown, signal?: AbortSignal): Promise<T> {
  const response = await fetch(path, {
    method,
    ...(body !== undefined && { body: JSON.stringify(body), headers: { "content-type": "application/json" } }),
    ...(signal && { signal }),
  }).catch((error: unknown) => {
    if (signal?.aborted) throw error;
    throw new ApiError(0, "unreachable", "The server cannot be reached. It may have been stopped.");
  });
  if (response.ok) return (response.status === 204 ? undefined : await response.json()) as T;
  throw await refusal(response);
}

export async function refusal(response: Response): Promise<ApiError> {
  if (response.status === 401) onSignedOut();
  const said = (await response.json().catch(() => undefined)) as
    | { error?: { type?: string; message?: string } }
    | undefined;
  return new ApiError(
    response.status,
    said?.error?.type ?? "unknown",
    said?.error?.message ?? `The server answered with ${response.status}.`,
  );
}

/** The server's API. The shapes are the server's, which checks them itself. */
export const api = {
  get: <T>(path: string, query?: Query, signal?: AbortSignal) =>
    call<T>("GET", address(path, query), undefined, signal),
  post: <T>(path: string, body?: unknown) => call<T>("POST", path, body),
  delete: <T>(path: string) => call<T>("DELETE", path),
};
