import { Copy } from "lucide-react";
import { useState } from "react";
import { Button } from "../ui/button.tsx";
import { Dialog } from "../ui/dialog.tsx";

/** Shows a new secret once, to be copied. */
export function SecretDialog({
  title,
  note,
  secret,
  onClose,
}: {
  title: string;
  note: string;
  secret: string;
  onClose: () => void;
}) {
  const [isCopied, setCopied] = useState(false);
  return (
    <Dialog
      onClose={onClose}
      title={title}
      description={note}
      footer={
        <>
          <Button
            look="primary"
            icon={<Copy aria-hidden className="size-4" />}
            onClick={() => void navigator.clipboard.writeText(secret).then(() => setCopied(true))}
          >
            {isCopied ? "Copied" : "Copy"}
          </Button>
          <Button onClick={onClose}>Done</Button>
        </>
      }
    >
      <p className="rounded-md bg-raised p-3 font-mono text-sm break-all select-all">{secret}</p>
    </Dialog>
  );
}
