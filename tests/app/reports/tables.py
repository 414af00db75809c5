"""Tables, sections and figures of a page, parsed from its HTML."""

from html.parser import HTMLParser


class Page(HTMLParser):
    """Parsed page: `tables` by title, titles of `sections`, `alts` of figures, `ids`, `links` and all `text`."""

    def __init__(self, html):
        super().__init__()
        self.tables, self.sections, self.alts, self.ids, self.links, self.text = {}, [], [], [], [], ""
        self._tag = self._title = self._head = self._row = None
        self.feed(html)

    def handle_starttag(self, tag, attributes):
        values = dict(attributes)
        self.ids += [values["id"]] if "id" in values else []
        self.links += [values[name] for name in ("href", "src", "xlink:href") if name in values]
        self.alts += [values["alt"]] if tag == "img" else []
        if tag == "table":
            self._head, self.tables[self._title] = [], []
        if tag == "tr":
            self._row = []
        if tag in ("h2", "h3", "th", "td", "script", "style"):
            self._tag = tag
            if tag in ("th", "td"):
                (self._head if tag == "th" else self._row).append("")
            if tag == "h3":
                self._title = ""
            if tag == "h2":
                self.sections.append("")

    def handle_data(self, data):
        if self._tag not in ("script", "style"):
            self.text += data
        if self._tag == "h2":
            self.sections[-1] += data
        elif self._tag == "h3":
            self._title += data
        elif self._tag == "th":
            self._head[-1] += data.strip()
        elif self._tag == "td":
            self._row[-1] += data

    def handle_endtag(self, tag):
        if tag == "tr" and self._row:
            self.tables[self._title].append(dict(zip(self._head, self._row, strict=True)))
        if tag == self._tag:
            self._tag = None
