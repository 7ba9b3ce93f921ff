// The lock that keeps the page still behind a dialog writes a style of its own, which the CSP lets in by its nonce alone;
// `get-nonce`, which that lock asks, looks for it under this name.
const nonce = document.querySelector<HTMLMetaElement>("meta[name=csp-nonce]")?.content;
Object.assign(globalThis, { __webpack_nonce__: nonce });
