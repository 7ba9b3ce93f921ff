// Radix injects a style element to lock scrolling behind a dialog. The CSP allows it only with the nonce, and
// `get-nonce` reads it from this global.
const nonce = document.querySelector<HTMLMetaElement>("meta[name=csp-nonce]")?.content;
Object.assign(globalThis, { __webpack_nonce__: nonce });
