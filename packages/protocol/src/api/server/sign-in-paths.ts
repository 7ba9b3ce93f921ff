// Outside ENDPOINTS: only the page and `tandem open` call them. Without zod, for the page.

/** Exchanges the one-time code of a link: `SignInParams`. */
export const SIGN_IN_PATH = "/v1/sign_in";
/** Revokes the key of this browser. */
export const SIGN_OUT_PATH = "/v1/sign_out";
/** Creates a link: `SignInCodeParams` to `SignInCode`. */
export const SIGN_IN_CODES_PATH = "/v1/sign_in/codes";
