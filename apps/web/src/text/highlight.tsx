import bash from "highlight.js/lib/languages/bash";
import css from "highlight.js/lib/languages/css";
import csharp from "highlight.js/lib/languages/csharp";
import diff from "highlight.js/lib/languages/diff";
import go from "highlight.js/lib/languages/go";
import java from "highlight.js/lib/languages/java";
import javascript from "highlight.js/lib/languages/javascript";
import json from "highlight.js/lib/languages/json";
import markdown from "highlight.js/lib/languages/markdown";
import python from "highlight.js/lib/languages/python";
import rust from "highlight.js/lib/languages/rust";
import sql from "highlight.js/lib/languages/sql";
import typescript from "highlight.js/lib/languages/typescript";
import xml from "highlight.js/lib/languages/xml";
import yaml from "highlight.js/lib/languages/yaml";
import { createLowlight } from "lowlight";
import { Fragment, type ReactNode } from "react";
import "./highlight.css";

const lowlight = createLowlight({
  bash,
  css,
  csharp,
  diff,
  go,
  java,
  javascript,
  json,
  markdown,
  python,
  rust,
  sql,
  typescript,
  xml,
  yaml,
});
lowlight.registerAlias({
  bash: ["sh", "shell", "console", "zsh"],
  typescript: ["ts", "tsx"],
  javascript: ["js", "jsx", "mjs"],
});
lowlight.registerAlias({
  python: ["py"],
  yaml: ["yml"],
  xml: ["html", "svg"],
  csharp: ["cs"],
  rust: ["rs"],
  markdown: ["md"],
});

interface Node {
  type: string;
  value?: string;
  properties?: { className?: string[] };
  children?: Node[];
}

/** Undefined for an unknown language. */
export function highlight(text: string, language: string): ReactNode | undefined {
  const nodes = tokensOf(text, language);
  return nodes && render(nodes);
}

/** The syntax tree, for other renderers. */
export function tokensOf(text: string, language: string): Node[] | undefined {
  const name = language.toLowerCase();
  return lowlight.registered(name) ? lowlight.highlight(name, text).children : undefined;
}

const render = (nodes: readonly Node[]): ReactNode =>
  nodes.map((node, index) =>
    node.type === "text" ? (
      <Fragment key={index}>{node.value}</Fragment>
    ) : (
      <span key={index} className={node.properties?.className?.join(" ")}>
        {render(node.children ?? [])}
      </span>
    ),
  );
