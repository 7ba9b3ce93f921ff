import { useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { api } from "../api/client.ts";
import { Confirm } from "../ui/confirm.tsx";
import { isStopDialogOpen } from "../state/open-dialogs.ts";
import { STOP_KEY } from "./kill-switch.tsx";
import { TextField } from "../ui/field.tsx";

export default function StopDialog() {
  const queries = useQueryClient();
  const [reason, setReason] = useState("");
  return (
    <Confirm
      onClose={() => isStopDialogOpen.set(false)}
      title="Stop everything?"
      verb="Stop everything"
      act={async () => {
        const body = reason.trim() === "" ? {} : { reason: reason.trim() };
        queries.setQueryData(STOP_KEY, await api.call("emergency.stop", { body }));
      }}
    >
      <p>
        Every turn of every session is interrupted, every process ends, and no turn starts until you resume. Pending
        approvals stay in the inbox.
      </p>
      <TextField
        label="Reason"
        hint="Shown in the banner and in the audit log."
        className="mt-3"
        maxLength={500}
        value={reason}
        onChange={setReason}
      />
    </Confirm>
  );
}
