import { EFFORTS, PERMISSION_MODES, SESSION_METADATA } from "@tandem/protocol";
import { useMutation, useQueryClient } from "@tanstack/react-query";
import { api } from "../api/client.ts";
import { useModels } from "../api/lists.ts";
import { effortLabel, modeOptions } from "../text/mode-labels.ts";
import { useBypassConfirm } from "../ui/bypass-confirm.tsx";
import { Select } from "../ui/select.tsx";
import { useSessionResource } from "./use-session-data.ts";

const MODES = modeOptions(PERMISSION_MODES);

/** Model, effort and permission mode of the next turn. */
export function Pickers({ session }: { session: string }) {
  const queries = useQueryClient();
  const path = `/v1/sessions/${session}`;
  const { data } = useSessionResource(session);
  const models = useModels();
  const change = useMutation({
    mutationFn: (metadata: Record<string, string | null>) =>
      api.call("sessions.update", { params: { session_id: session }, body: { metadata } }),
    onSuccess: (session) => queries.setQueryData([path], session),
  });
  const [confirmBypass, bypassDialog] = useBypassConfirm();
  if (!data) return null;
  const { metadata, agent } = data;
  const own = typeof agent.model === "string" ? agent.model : agent.model.id;
  const nameOf = (id: string): string => models.data?.find((model) => model.id === id)?.display_name ?? id;
  const set = (key: string, value: string): void => change.mutate({ [key]: value === "" ? null : value });
  const shown = change.variables && change.isPending ? { ...metadata, ...change.variables } : metadata;
  return (
    <>
      <Select
        isBare
        className="shrink-0"
        aria-label="Permission mode"
        value={MODES.find(({ value }) => value === shown[SESSION_METADATA.permissionMode])?.value ?? "default"}
        options={MODES}
        onChange={(value) => {
          const choose = (): void => set(SESSION_METADATA.permissionMode, value);
          if (value === "bypassPermissions") confirmBypass(choose);
          else choose();
        }}
      />
      <Select
        isBare
        className="shrink-0"
        aria-label="Model"
        value={shown[SESSION_METADATA.model] ?? ""}
        options={[
          { value: "", label: models.isPending ? "Model" : nameOf(own) },
          ...(models.data ?? [])
            .filter(({ id }) => id !== own)
            .map(({ id, display_name }) => ({ value: id, label: display_name })),
        ]}
        onChange={(value) => set(SESSION_METADATA.model, value)}
      />
      <Select
        isBare
        className="shrink-0"
        aria-label="Effort"
        value={shown[SESSION_METADATA.effort] ?? ""}
        options={[
          { value: "", label: "Effort" },
          ...EFFORTS.map((effort) => ({ value: effort, label: `${effortLabel(effort)} effort` })),
        ]}
        onChange={(value) => set(SESSION_METADATA.effort, value)}
      />
      {bypassDialog}
      {change.error && (
        <span role="alert" className="min-w-0 truncate text-xs text-bad" title={change.error.message}>
          {change.error.message}
        </span>
      )}
    </>
  );
}
