/** No request may ever reach this address. A request shows that agent output became active. */
export const ELSEWHERE = "http://127.0.0.1:9";

const ACT = "window.__acted = true";

/** Agent output that attacks a careless renderer. */
export const HOSTILE_TEXT = [
  `<script>${ACT}</script>`,
  `<img src=x onerror="${ACT}"><svg onload="${ACT}"></svg><iframe src="javascript:${ACT}"></iframe>`,
  `<style>body { display: none }</style><base href="${ELSEWHERE}/"><meta http-equiv="refresh" content="0;url=${ELSEWHERE}/">`,
  `![picture](${ELSEWHERE}/seen.png) ![](data:text/html,<script>${ACT}</script>)`,
  `[run](javascript:${ACT}) [data](data:text/html;base64,PHNjcmlwdD4=) [file](file:///etc/passwd) [blob](blob:x)`,
  `[own](/v1/sessions) [vb](vbscript:x) <javascript:${ACT}> [tab](java\tscript:${ACT}) [good](https://example.com/)`,
  `<a href="${ELSEWHERE}/" ping="${ELSEWHERE}/ping">ping</a> <form action="${ELSEWHERE}"><button>Allow once</button></form>`,
  "`<b>code</b>` &lt;i&gt; &#60;u&#62;",
  `\`\`\`html\n<script>${ACT}</script>\n\`\`\``,
  `| <script>${ACT}</script> | ![x](${ELSEWHERE}/cell.png) |\n| --- | --- |\n| a | b |`,
].join("\n\n");

/** Looks harmless: a bidirectional control character reverses the displayed order of the text after it. */
export const HOSTILE_COMMAND = `printf '\\033[31mred\\033[0m\\033]8;;${ELSEWHERE}/\\033\\\\link\\033]8;;\\033\\\\ <img src=x onerror=${ACT}>\\n' # \u202Esevol\u202C`;
