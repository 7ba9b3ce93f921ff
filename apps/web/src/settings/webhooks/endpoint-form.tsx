import { WEBHOOK_EVENTS, type WebhookEndpointView } from "@tandem/protocol";
import { useMutation } from "@tanstack/react-query";
import { useState } from "react";
import { api } from "../../api/client.ts";
import { Button } from "../../ui/button.tsx";
import { FormDialog } from "../../ui/form-dialog.tsx";
import { TextField } from "../../ui/field.tsx";

type EventType = WebhookEndpointView["enabled_events"][number];

const DEFAULT: readonly EventType[] = ["session.status_idled", "session.requires_action"];
/** Tandem has no user profiles; programs may still ask for their events. */
const OFFERED = WEBHOOK_EVENTS.filter((type) => !type.startsWith("user_profile."));
const GROUPS = Map.groupBy(OFFERED, (type) => type.slice(0, type.indexOf(".")));

/** Adds an endpoint, or changes one. `onSaved` gets the signing secret of a new one. */
export function EndpointForm({
  endpoint,
  onClose,
  onSaved,
}: {
  endpoint: WebhookEndpointView | undefined;
  onClose: () => void;
  onSaved: (secret: string | undefined) => void;
}) {
  const [url, setUrl] = useState(endpoint?.url ?? "");
  const [name, setName] = useState(endpoint?.name ?? "");
  const [events, setEvents] = useState<ReadonlySet<EventType>>(new Set(endpoint?.enabled_events ?? DEFAULT));
  const toggle = (types: readonly EventType[], isOn: boolean): void => {
    const next = new Set(events);
    for (const type of types)
      if (isOn) next.add(type);
      else next.delete(type);
    setEvents(next);
  };
  const save = useMutation({
    mutationFn: async () => {
      const body = { url: url.trim(), name: name.trim(), enabled_events: [...events] };
      if (!endpoint) return (await api.call("organization.webhooks.create", { body })).signing_secret;
      await api.call("organization.webhooks.update", { params: { webhook_endpoint_id: endpoint.id }, body });
      return undefined;
    },
    onSuccess: onSaved,
  });
  const isReady = url.trim() !== "" && events.size > 0;
  return (
    <FormDialog
      onClose={onClose}
      title={endpoint ? "Edit endpoint" : "Add endpoint"}
      verb={endpoint ? "Save" : "Add"}
      isReady={isReady}
      action={save}
    >
      <TextField
        label="URL"
        hint="Any 2xx answer within 15 seconds acknowledges a delivery. Redirects are not followed."
        type="url"
        value={url}
        onChange={setUrl}
      />
      <TextField label="Name (optional)" maxLength={100} value={name} onChange={setName} />
      {[...GROUPS].map(([group, types]) => {
        const isWhole = types.every((type) => events.has(type));
        return (
          <fieldset key={group}>
            <legend className="flex w-full items-center gap-2 text-sm font-medium text-ink-soft">
              {group}
              <Button
                look="quiet"
                size="small"
                aria-label={`${isWhole ? "Clear" : "Select all"} of ${group}`}
                onClick={() => toggle(types, !isWhole)}
              >
                {isWhole ? "Clear" : "Select all"}
              </Button>
            </legend>
            <div className="grid gap-x-4 sm:grid-cols-2">
              {types.map((type) => (
                <label key={type} className="flex min-h-7 items-center gap-2 text-sm pointer-coarse:min-h-10">
                  <input
                    type="checkbox"
                    className="accent-accent"
                    checked={events.has(type)}
                    onChange={() => toggle([type], !events.has(type))}
                  />
                  {type.slice(group.length + 1)}
                </label>
              ))}
            </div>
          </fieldset>
        );
      })}
    </FormDialog>
  );
}
