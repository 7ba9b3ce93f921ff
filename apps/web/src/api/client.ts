import { createClient } from "@tandem/client";

export { ApiError } from "@tandem/client";

/** Called when the server says that this browser is not signed in, or no longer. */
let onSignedOut: () => void = () => undefined;
export const whenSignedOut = (listener: () => void): void => {
  onSignedOut = listener;
};

/** The server that this page came from. */
export const api = createClient({ onUnauthorized: () => onSignedOut() });
