import { useMutation } from "@tanstack/react-query";
import { useEffect } from "react";
import { api } from "../../api/client.ts";
import { Problem } from "../../ui/problem.tsx";

type Return = { type: "code"; state: string; code: string; iss?: string } | { type: "refused"; why: string };

/** Ends a login when the browser comes back with a code. The server checks that this sign-in started it. */
export function FinishLogin({ onConnected }: { onConnected: () => Promise<void> }) {
  const { mutate, data, error, isPending } = useMutation({
    mutationFn: async (back: Return) => {
      if (back.type === "refused") throw new Error(`The login was refused: ${back.why}`);
      const { type: _, ...body } = back;
      return api.call("vaults.logins.finish", { body });
    },
    onSuccess: onConnected,
  });
  useEffect(() => {
    const back = readReturn(new URLSearchParams(location.search));
    if (!back) return;
    // A code works once: a reload must not send it again.
    history.replaceState(history.state, "", location.pathname);
    mutate(back);
  }, [mutate]);
  return (
    <>
      <Problem error={error} className="mb-4" />
      {isPending && <p className="mb-4 text-sm text-ink-soft">Finishing the login …</p>}
      {data && "mcp_server_url" in data.auth && (
        <output className="mb-4 block rounded-md bg-good-soft px-2.5 py-1.5 text-sm text-good">
          Connected to {data.auth.mcp_server_url}. Sessions with this vault use the login from now on.
        </output>
      )}
    </>
  );
}

function readReturn(query: URLSearchParams): Return | undefined {
  const [state, code, error, iss] = ["state", "code", "error", "iss"].map((name) => query.get(name));
  if (!state) return undefined;
  if (!code) return { type: "refused", why: query.get("error_description") ?? error ?? "the server sent no code" };
  return { type: "code", state, code, ...(iss && { iss }) };
}
