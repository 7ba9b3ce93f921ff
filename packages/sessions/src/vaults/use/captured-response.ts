import { Redactor, type CapturedResponse } from "@tandem/protocol";

const MAX_SHOWN = 2_048;

/** Reads at most `limit` bytes of a body and discards the rest. */
export async function readStart(response: Response, limit: number): Promise<{ text: string; isWhole: boolean }> {
  const chunks: Uint8Array[] = [];
  let length = 0;
  const reader = response.body?.getReader();
  for (;;) {
    const { done, value } = (await reader?.read()) ?? { done: true, value: undefined };
    if (done) break;
    chunks.push(value);
    length += value.length;
    if (length > limit) {
      await reader?.cancel();
      break;
    }
  }
  return { text: Buffer.concat(chunks).subarray(0, limit).toString(), isWhole: length <= limit };
}

/** An error answer that a person may see. `secrets`: values that were sent, which a server may return. They are removed before the text is cut. */
export async function captureResponse(response: Response, secrets: readonly string[]): Promise<CapturedResponse> {
  const { text, isWhole } = await readStart(response, 4 * MAX_SHOWN);
  return captureText(response, { text, isWhole }, secrets);
}

export function captureText(
  { status, headers }: Pick<Response, "status" | "headers">,
  { text, isWhole }: { text: string; isWhole: boolean },
  secrets: readonly string[],
): CapturedResponse {
  const clean = new Redactor(secrets).text(text);
  return {
    status_code: status,
    content_type: (headers.get("content-type") ?? "").slice(0, 200),
    body: clean.slice(0, MAX_SHOWN),
    body_truncated: !isWhole || clean.length > MAX_SHOWN,
  };
}
