"""Makes the documents that the questions are asked of: an employee handbook (.docx), a pump's manual with its terms of
supply (.pdf), and npm's own manual (HTML and Markdown), which set-up fetches."""

import os
import shutil
import zipfile
from pathlib import Path
from xml.sax.saxutils import escape

CACHE = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "plimsoll"
NPM_DOCS = CACHE / "assets" / "npm-docs"

HANDBOOK = [
    ("h1", "Employee handbook"),
    ("p", "This handbook applies to everyone who is employed by Harbour Pumps, in every office and in the works."),
    ("h2", "Leave"),
    ("h3", "Annual leave"),
    ("p", "Full-time employees get 27 days of annual leave a year. The leave year runs from January to December. Up to five "
          "unused days may be carried over until the end of March; after that they expire."),
    ("p", "Leave is requested in the staff portal at least two weeks ahead. Your manager answers within three working days."),
    ("h3", "Sick leave"),
    ("p", "Tell your manager before 9:00 if you are ill. A doctor's note is needed from the third day of illness. Pay continues "
          "in full for six weeks."),
    ("h3", "Parental leave"),
    ("p", "Either parent may take up to fourteen months of parental leave together. Apply seven weeks before it begins."),
    ("h2", "Expenses"),
    ("p", "Hand in expenses within 60 days of the purchase, with receipts. Later claims are not paid."),
    ("table", [["City", "Hotel per night", "Meals per day"], ["London", "180 GBP", "55 GBP"], ["Hamburg", "140 EUR", "42 EUR"],
               ["Lisbon", "115 EUR", "38 EUR"]]),
    ("p", "Rail travel is booked in second class. Flights of more than six hours may be booked in premium economy."),
    ("h2", "Working hours"),
    ("p", "The working week has 38 hours. Core time is from 10:00 to 15:00. Overtime is given back as time off within three "
          "months and is not paid out."),
    ("h2", "Remote work"),
    ("p", "You may work from home up to three days a week. Working from another country is allowed for 20 days a year, within "
          "the European Union only, because of tax and insurance rules."),
    ("h2", "Training"),
    ("p", "Every employee has five training days a year. Courses up to 1,500 EUR are approved by the team lead; dearer ones need "
          "the approval of the head of department."),
    ("h2", "Information security"),
    ("p", "Use the password manager. Passwords are changed only after a suspected leak, and never by calendar. Report a lost "
          "laptop or phone to the service desk within one hour."),
    ("h2", "Ending employment"),
    ("p", "The notice period is four weeks to the end of a month. After five years it is two months, after ten years four months."),
    ("p", "Company property is returned on the last working day."),
]

MANUAL = [
    ("h1", "HP-20 harbour pump: manual"),
    ("h2", "1 Intended use"),
    ("p", "The HP-20 pumps fresh and sea water up to 60 degrees Celsius. It must not be used for fuel or other flammable liquids."),
    ("h2", "2 Technical data"),
    ("table", [["Property", "HP-20", "HP-40"], ["Flow rate", "320 l/min", "610 l/min"], ["Head", "24 m", "31 m"],
               ["Power", "2.2 kW", "4.0 kW"], ["Weight", "41 kg", "66 kg"]]),
    ("h2", "3 Installation"),
    ("p", "Mount the pump on a level base with four M12 bolts, tightened to 48 Nm. The suction line must rise steadily towards "
          "the pump. Fit a non-return valve when the pump stands above the water level."),
    ("p", "Only an electrician may connect the motor. The supply is 400 V, three phases, protected by a 16 A fuse."),
    ("h2", "4 Operation"),
    ("p", "Fill the pump housing with water before the first start; it must never run dry for more than 30 seconds. If the pump "
          "does not deliver water after two minutes, switch it off and vent the suction line."),
    ("h2", "5 Maintenance"),
    ("p", "Check the shaft seal for leaks every week. Replace the seal every 4,000 operating hours or every two years, whichever "
          "comes first. Grease the bearings every 1,000 hours with a lithium grease of class NLGI 2."),
    ("p", "The gearbox holds 0.8 litres of oil SAE 80W-90. Change it once a year."),
    ("p", "Before frost, drain the housing through the plug at its lowest point."),
    ("h2", "6 Faults"),
    ("table", [["Code", "Meaning", "Remedy"], ["E1", "Motor too hot", "Let it cool for 30 minutes"],
               ["E2", "Phase missing", "Check the fuse and the cable"], ["E3", "Dry run", "Vent the suction line"],
               ["E4", "Pressure sensor fails", "Replace the sensor"]]),
    ("h1", "Terms of supply"),
    ("h2", "7 Prices and payment"),
    ("p", "Prices are net, ex works, without VAT. The invoice is due 30 days after its date. A discount of 2 percent is granted "
          "for payment within 10 days."),
    ("p", "If payment is late, interest of 9 percentage points above the base rate is charged, and open orders may be held back."),
    ("h2", "8 Delivery"),
    ("p", "Delivery times run from the order confirmation. The risk passes to the buyer when the goods leave the works. Transport "
          "damage is reported to the carrier within seven days."),
    ("h2", "9 Warranty"),
    ("p", "The warranty of the pump is 24 months from delivery, or 6,000 operating hours. Seals and bearings are wear parts and "
          "are not covered. The warranty ends if the pump was opened by somebody else than our service."),
    ("h2", "10 Returns"),
    ("p", "Goods in their original packing are taken back within 14 days for a fee of 15 percent of their value."),
]


def write_docx(path, blocks):
    def paragraph(text, style=""):
        properties = f'<w:pPr><w:pStyle w:val="{style}"/></w:pPr>' if style else ""
        return f"<w:p>{properties}<w:r><w:t xml:space=\"preserve\">{escape(text)}</w:t></w:r></w:p>"

    body = ""
    for kind, content in blocks:
        if kind == "table":
            rows = "".join("<w:tr>" + "".join(f"<w:tc>{paragraph(cell)}</w:tc>" for cell in row) + "</w:tr>" for row in content)
            body += f"<w:tbl>{rows}</w:tbl>"
        else:
            body += paragraph(content, f"Heading{kind[1]}" if kind.startswith("h") else "")
    word = "http://schemas.openxmlformats.org/wordprocessingml/2006/main"
    relations = "http://schemas.openxmlformats.org/package/2006/relationships"
    office = "http://schemas.openxmlformats.org/officeDocument/2006/relationships/officeDocument"
    main = "application/vnd.openxmlformats-officedocument.wordprocessingml.document.main+xml"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as packed:
        packed.writestr("[Content_Types].xml",
                        '<Types xmlns="http://schemas.openxmlformats.org/package/2006/content-types">'
                        '<Default Extension="rels" ContentType="application/vnd.openxmlformats-package.relationships+xml"/>'
                        f'<Override PartName="/word/document.xml" ContentType="{main}"/></Types>')
        packed.writestr("_rels/.rels", f'<Relationships xmlns="{relations}"><Relationship Id="r1" Type="{office}" '
                                       'Target="word/document.xml"/></Relationships>')
        packed.writestr("word/document.xml", f'<?xml version="1.0" encoding="UTF-8"?><w:document xmlns:w="{word}"><w:body>'
                                             f"{body}</w:body></w:document>")


def wrapped(text, width=88):
    line = ""
    for word in text.split():
        if line and len(line) + 1 + len(word) > width:
            yield line
            line = word
        else:
            line = f"{line} {word}".strip()
    yield line


def pdf_pages(blocks):
    """The operators of each page: every line at its place, every cell of a table at its own."""
    pages, operators, y = [], [], 800
    sizes = {"h1": 18, "h2": 14, "p": 10, "table": 10}

    def put(text, x, size):
        quoted = text.replace("\\", "\\\\").replace("(", "\\(").replace(")", "\\)")
        operators.append(f"BT /F1 {size} Tf 1 0 0 1 {x} {y} Tm ({quoted}) Tj ET")

    for kind, content in blocks:
        rows = content if kind == "table" else [[line] for line in wrapped(content)]
        if y - 14 * len(rows) < 60:
            pages.append(operators)
            operators, y = [], 800
        for row in rows:
            for column, cell in enumerate(row):
                put(cell, 60 + 160 * column, sizes[kind])
            y -= sizes[kind] + 4
        y -= 10
    return [*pages, operators]


def write_pdf(path, blocks):
    pages = pdf_pages(blocks)
    objects = ["<< /Type /Catalog /Pages 2 0 R >>",
               f"<< /Type /Pages /Kids [{' '.join(f'{4 + 2 * i} 0 R' for i in range(len(pages)))}] /Count {len(pages)} >>",
               "<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>"]
    for number, operators in enumerate(pages):
        stream = "\n".join(operators)
        objects.append(f"<< /Type /Page /Parent 2 0 R /MediaBox [0 0 595 842] /Contents {5 + 2 * number} 0 R "
                       "/Resources << /Font << /F1 3 0 R >> >> >>")
        objects.append(f"<< /Length {len(stream)} >>\nstream\n{stream}\nendstream")
    out, places = b"%PDF-1.4\n", []
    for number, one in enumerate(objects, 1):
        places.append(len(out))
        out += f"{number} 0 obj\n{one}\nendobj\n".encode("latin-1")
    table = len(out)
    out += f"xref\n0 {len(objects) + 1}\n0000000000 65535 f \n".encode()
    out += b"".join(f"{place:010} 00000 n \n".encode() for place in places)
    out += f"trailer << /Size {len(objects) + 1} /Root 1 0 R >>\nstartxref\n{table}\n%%EOF\n".encode()
    path.write_bytes(out)


def make_library(folder):
    """Fills the folder with all of them."""
    if not NPM_DOCS.is_dir():
        raise FileNotFoundError(f"npm's manual is not in {NPM_DOCS}; `tools/setup test` fetches it")
    folder.mkdir(parents=True, exist_ok=True)
    write_docx(folder / "handbook.docx", HANDBOOK)
    write_pdf(folder / "pump-manual.pdf", MANUAL)
    shutil.copytree(NPM_DOCS, folder / "npm", dirs_exist_ok=True, ignore=shutil.ignore_patterns("asset.json"))
