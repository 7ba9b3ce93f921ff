import { createClient, createSignedFetch } from "@tandem/client";
import { pageKey } from "./page-key.ts";

export { ApiError } from "@tandem/client";

/** Called when the server says that this browser is not signed in, or no longer. */
let onSignedOut: () => void = () => undefined;
export const whenSignedOut = (listener: () => void): void => {
  onSignedOut = listener;
};

const fetch = createSignedFetch({ key: pageKey });

/** The server that this page came from. */
export const api = createClient({ fetch, onUnauthorized: () => onSignedOut() });

/** For signing in, where a 401 is an answer like any other. */
export const signInApi = createClient({ fetch });
