// Stands in for @tanstack/react-virtual in a build of the page that is measured beside the real one: all rows are there.
import { useState } from "react";
import "./plain-list.css";

class PlainList {
  options;

  get #element() {
    return this.options.getScrollElement();
  }
  #row(index) {
    return this.#element?.querySelector(`[data-index="${index}"]`);
  }
  get scrollOffset() {
    return this.#element?.scrollTop ?? 0;
  }
  getVirtualItems() {
    const { count, getItemKey } = this.options;
    return Array.from({ length: count }, (_, index) => ({ index, key: getItemKey(index), start: 0 }));
  }
  getTotalSize() {
    return "auto";
  }
  measureElement() {}
  scrollToEnd() {
    const element = this.#element;
    if (element) element.scrollTop = element.scrollHeight;
  }
  scrollToIndex(index, { align = "start" } = {}) {
    requestAnimationFrame(() => this.#row(index)?.scrollIntoView({ block: align }));
  }
  getOffsetForIndex(index) {
    return [this.#row(index)?.offsetTop ?? 0, "start"];
  }
}

export function useVirtualizer(options) {
  const [list] = useState(() => new PlainList());
  list.options = options;
  return list;
}
