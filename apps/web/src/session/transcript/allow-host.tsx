import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { api } from "../../api/client.ts";
import { useSession } from "../../state/session-context.ts";
import { Button } from "../../ui/button.tsx";
import { Problem } from "../../ui/problem.tsx";

/** Buttons that allow a refused host. The next connection of the running session succeeds. */
export function AllowHost({ host }: { host: string }) {
  const { id } = useSession();
  const queries = useQueryClient();
  const key = ["/v1/sandbox/hosts", id];
  const hosts = useQuery({
    queryKey: key,
    queryFn: ({ signal }) => api.call("sandbox.hosts.list", { query: { session_id: id }, signal }),
  });
  const allow = useMutation({
    mutationFn: (scope: "session" | "folder") =>
      api.call("sandbox.hosts.create", { body: { host, scope, session_id: id } }),
    onSuccess: () => queries.invalidateQueries({ queryKey: ["/v1/sandbox/hosts"] }),
  });
  const grant = hosts.data?.data.find((one) => one.host === host);
  if (grant) {
    const where = grant.scope === "session" ? "for this session" : "in this folder";
    return (
      <output className="text-ink-soft">{`${host} is allowed ${where} now, by ${grant.by}. Ask the agent to try again.`}</output>
    );
  }
  return (
    <div className="mt-1.5 flex flex-wrap items-center gap-2">
      <Button size="small" disabled={allow.isPending} onClick={() => allow.mutate("session")}>
        Allow for this session
      </Button>
      <Button size="small" disabled={allow.isPending} onClick={() => allow.mutate("folder")}>
        Allow in this folder
      </Button>
      <Problem error={allow.error} />
    </div>
  );
}
