/** Renders backticks as code in server messages, which are not Markdown. */
export const InlineCode = ({ text }: { text: string }) =>
  text.split("`").map((piece, at) =>
    at % 2 === 0 ? (
      piece
    ) : (
      <code key={at} className="rounded bg-raised px-1 font-mono text-[0.9em] text-ink wrap-anywhere">
        {piece}
      </code>
    ),
  );
