// Runs in the page before anything else of it, and watches: tasks, keys, frames, rows. Plain JavaScript, since it is sent
// to the browser as it is.
(() => {
  const tasks = [];
  const keys = [];
  new PerformanceObserver((list) => {
    for (const { startTime, duration } of list.getEntries()) tasks.push({ startTime, duration });
  }).observe({ type: "longtask", buffered: true });
  new PerformanceObserver((list) => {
    for (const { name, duration } of list.getEntries()) if (name === "keydown") keys.push(duration);
  }).observe({ type: "event", durationThreshold: 16, buffered: true });

  const log = () => document.querySelector("[role=log]");
  const rows = () => [...document.querySelectorAll("[role=log] [data-index]")];

  /** After the next frame has been painted. */
  const painted = () =>
    new Promise((resolve) => {
      requestAnimationFrame(() => {
        const { port1, port2 } = new MessageChannel();
        port1.onmessage = () => resolve(performance.now());
        port2.postMessage(0);
      });
    });

  /** When the first frame was painted of which this is true. */
  const firstFrame = async (isThere) => {
    for (;;) {
      const at = await painted();
      if (isThere()) return at;
    }
  };

  /** Of three heights of the conversation, those at which there is no row. By rectangles: what lies above does not count. */
  const blanks = () => {
    const { top, height } = log().getBoundingClientRect();
    const spans = rows().map((row) => row.getBoundingClientRect());
    return [0.25, 0.5, 0.75].filter((share) => {
      const y = top + height * share;
      return !spans.some((span) => span.top <= y && span.bottom >= y);
    }).length;
  };

  /** The number of the last delta that is on the screen. */
  const lastMark = () => {
    const row = rows().findLast((each) => each.textContent.includes("§"));
    const walker = row && document.createTreeWalker(row, NodeFilter.SHOW_TEXT);
    if (!walker) return -1;
    let node = walker.lastChild();
    while (node?.nodeType === Node.ELEMENT_NODE) node = walker.lastChild();
    for (; node; node = walker.previousNode()) {
      const found = node.data.match(/§(\d+);/g);
      if (found) return Number(found.at(-1).slice(1, -1));
    }
    return -1;
  };

  const distance = () => {
    const { scrollHeight, scrollTop, clientHeight } = log();
    return scrollHeight - scrollTop - clientHeight;
  };

  globalThis.probe = {
    tasks,
    keys,
    blanks,
    painted,
    distance,
    elements: () => document.getElementsByTagName("*").length,

    /** When the first rows were painted, and the rows of that moment; by the page's own clock, from its navigation. */
    firstRows: firstFrame(() => rows().length > 0),
    /** Likewise, when the first of all rows was there, marked as the one that the link names. */
    linkedPart:
      location.search === ""
        ? undefined
        : firstFrame(() => document.querySelector("[role=log] [data-index='0'][aria-current]") !== null),
    /** Likewise, of a page that has nothing but words. */
    firstWords: firstFrame(() => document.body?.textContent !== ""),

    /** Resolves with the first frame that shows the end of the conversation; or a word of the answer that streams. */
    async atEnd() {
      while (distance() >= 48) await painted();
    },
    /** Resolves when the list has this height: what is missing between a linked part and the end comes in one go. */
    async allRead(height) {
      while (log().scrollHeight < height) await painted();
    },
    async streaming() {
      while (lastMark() < 0) await painted();
    },

    /** Every frame from now on: when it was, which delta it showed, how far from the end it was. */
    watch() {
      const frames = [];
      let isOver = false;
      const next = async () => {
        const at = await painted();
        frames.push({ at: performance.timeOrigin + at, mark: lastMark(), distance: distance() });
        if (!isOver) void next();
      };
      void next();
      return { frames, end: () => (isOver = true) };
    },

    /** Goes to the middle; how long until there are rows everywhere. */
    async jump() {
      const begun = performance.now();
      const element = log();
      element.scrollTop = element.scrollHeight / 2;
      for (;;) {
        const at = await painted();
        if (blanks() === 0 || at - begun > 10_000) return at - begun;
      }
    },
  };
})();
