import { Paperclip } from "lucide-react";
import { useRef } from "react";
import { Button } from "../ui/button.tsx";

/** A file picker, as an alternative to paste and drop. */
export function AttachButton({ onFiles }: { onFiles: (files: Iterable<File>) => void }) {
  const input = useRef<HTMLInputElement>(null);
  return (
    <>
      <Button look="quiet" size="icon" aria-label="Attach files" onClick={() => input.current?.click()}>
        <Paperclip aria-hidden className="size-4" />
      </Button>
      <input
        ref={input}
        type="file"
        multiple
        hidden
        onChange={(event) => {
          onFiles(event.target.files ?? []);
          event.target.value = "";
        }}
      />
    </>
  );
}
