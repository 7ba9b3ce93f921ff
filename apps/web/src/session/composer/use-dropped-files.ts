import { useEffect, useEffectEvent, useState } from "react";

/** Files that are dropped anywhere on the page: beside the field is as good as into it. True while some hang over it. */
export function useDroppedFiles(add: (files: Iterable<File>) => void): boolean {
  const [isOver, setOver] = useState(false);
  const onDrop = useEffectEvent((event: DragEvent) => {
    const files = event.dataTransfer?.files;
    if (!files || files.length === 0) return;
    event.preventDefault();
    add(files);
  });
  useEffect(() => {
    const allow = (event: DragEvent): void => {
      if (!event.dataTransfer?.types.includes("Files")) return;
      event.preventDefault();
      setOver(true);
    };
    const drop = (event: DragEvent): void => {
      setOver(false);
      onDrop(event);
    };
    // Out of the window, and not from one element of it to the next.
    const leave = (event: DragEvent): void => {
      if (event.relatedTarget === null) setOver(false);
    };
    addEventListener("dragover", allow);
    addEventListener("dragleave", leave);
    addEventListener("drop", drop);
    return () => {
      removeEventListener("dragover", allow);
      removeEventListener("dragleave", leave);
      removeEventListener("drop", drop);
    };
  }, []);
  return isOver;
}
