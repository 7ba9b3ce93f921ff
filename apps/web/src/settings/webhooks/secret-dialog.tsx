import { Copy } from "lucide-react";
import { useState } from "react";
import { Button } from "../../ui/button.tsx";
import { Dialog } from "../../ui/dialog.tsx";

export function SecretDialog({ secret, onClose }: { secret: string; onClose: () => void }) {
  const [isCopied, setCopied] = useState(false);
  return (
    <Dialog
      isOpen
      onOpenChange={onClose}
      title="The signing secret"
      description="Copy it now: it is shown only once. The receiver verifies every delivery with it."
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
