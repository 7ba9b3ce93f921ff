import { getCACertificates } from "node:tls";

/** A file with the authorities that the host trusts and one more, for programs whose settings replace the system's roots. */
export const caBundle = (certificate: string): string =>
  [...new Set([certificate, ...getCACertificates("system"), ...getCACertificates("default")].map((pem) => pem.trim()))]
    .join("\n")
    .concat("\n");

/** Variables that make Node, npm, curl, git, Python, cargo, Go, Ruby, Deno and the AWS CLI trust the bundle at this path inside. */
export const caVariables = (file: string): Record<string, string> =>
  Object.fromEntries(
    `NODE_EXTRA_CA_CERTS SSL_CERT_FILE CURL_CA_BUNDLE GIT_SSL_CAINFO REQUESTS_CA_BUNDLE PIP_CERT npm_config_cafile
    CARGO_HTTP_CAINFO AWS_CA_BUNDLE DENO_CERT`
      .split(/\s+/)
      .map((name) => [name, file]),
  );
