"""Made-up text on screen, as examples for train_reranker.py: captions, price lists, rows of tables, headings, notices and
menus, each with a question that it answers and one that it does not.
"""

import random

chance = random.Random(11)

FIRST = (
    "Omar Lena Priya Tom Aisha Kenji Maria David Fatima Lucas Ingrid Chen Rosa Peter Amina Viktor Julia Samuel Elif "
    "Noah Hannah Ravi Carmen Oleg Grace"
).split()
LAST = (
    "Haddad Fischer Patel Walker Diallo Tanaka Lopez Stein Rahman Moreau Larsen Wei Rossi Novak Okoye Petrov Klein "
    "Adeyemi Demir Brown Schulz Kumar Ruiz Ivanov Hughes"
).split()
ROLES = (
    "software engineer;head of research;director;farmer;mayor;nurse;professor of history;chief executive;reporter;"
    "baker;architect;project manager;marine biologist;teacher;fire chief;spokeswoman;translator;pilot;head coach;"
    "museum curator;lawyer;photographer;chairman;data scientist;gardener"
).split(";")
ITEMS = (
    "coffee;green tea;cheese sandwich;bicycle repair;day ticket;window seat;apple pie;haircut;tomato soup;notebook;"
    "desk lamp;orange juice;chocolate cake;museum entry;parking;hot chocolate;fish and chips;guided tour;umbrella"
).split(";")
COLUMNS = "sales;population;score;price;speed;height;weight;budget;capacity;rank;revenue;year;distance".split(";")
PLACES = "Berlin Lyon Osaka Lagos Lima Cairo Boston Oslo Dublin Mumbai Perth Quito Hanoi Tunis Porto".split()
HEADINGS = (
    "The River;A New Beginning;Safety First;Methods;Results;Why It Matters;Cooking Basics;How Engines Work;"
    "Questions and Answers;Life on the Coast;Saving Energy;The First Flight;Conclusions;Road Works;Night Shift"
).split(";")
MENUS = (
    "File Edit View Insert Format Help Settings Search Home Login Upload Download Cancel Save Share Print Profile "
    "Notifications Messages Dashboard Reports Users Tools Window Account Logout Next Back Submit Play Pause"
).split()


def name():
    return f"{chance.choice(FIRST)} {chance.choice(LAST)}"


def joined(parts):
    """Lines as the service joins them, sometimes in capitals."""
    text = chance.choice(("; ", " ", "; ")).join(parts)
    return text.upper() if chance.random() < 0.2 else text


def caption():
    people = [(name(), role) for role in chance.sample(ROLES, 3)]
    (who, role), (other, another), (_, absent) = people
    text = joined([who, role.capitalize()] + ([other, another.capitalize()] if chance.random() < 0.3 else []))
    about = chance.choice(
        (
            ("Who is the {role}?", "Who is the {absent}?"),
            ("What is the name of the {role}?", "What is the name of the {absent}?"),
            ("What is {who}'s job?", "What is {stranger}'s job?"),
            ("What does {who} do?", "What does {stranger} do?"),
            ("Who is {who}?", "Who is {stranger}?"),
            ("What is {first}'s last name?", "What is {nobody}'s last name?"),
        )
    )
    first = who.split()[0]
    nobody = chance.choice([one for one in FIRST if one not in text and one.upper() not in text])
    values = {"role": role, "absent": absent, "who": chance.choice((who, first)), "first": first, "nobody": nobody,
              "stranger": f"{nobody} {chance.choice(LAST)}"}  # fmt: skip
    return about[0].format(**values), about[1].format(**values), text


def prices():
    chosen = chance.sample(ITEMS, 4)
    sign = chance.choice(("$", "€", "£"))
    text = joined([f"{item.capitalize()} {sign}{chance.randint(1, 60)}.{chance.choice(('00', '50', '90'))}" for item in chosen[:3]])
    asked = chance.choice(("How much is the {}?", "What does the {} cost?", "What is the price of the {}?"))
    return asked.format(chosen[0]), asked.format(chosen[3]), text


def row():
    columns, subject = chance.sample(COLUMNS, 4), chance.choice((f"Widget {chance.choice('ABCDEFGHK')}", chance.choice(PLACES), name()))
    key = chance.choice(("name", "item", "product", "city"))
    text = "; ".join([f"{key}: {subject}"] + [f"{column}: {chance.randint(1, 9000)}" for column in columns[:3]])
    asked = chance.choice(("What is the {} of {}?", "What {} does {} have?", "How high is the {} of {}?"))
    stranger = chance.choice((f"Widget {chance.choice('LMNPQRS')}", name()))
    wrong = (columns[3], subject) if chance.random() < 0.5 else (columns[0], stranger)
    return asked.format(columns[0], subject), asked.format(*wrong), text


def heading():
    title, number = chance.choice(HEADINGS), chance.randint(1, 20)
    part = chance.choice(("Chapter", "Lesson", "Part", "Episode", "Section", "Step"))
    text = joined([f"{part} {number}: {title}"] + ([f"{chance.choice(FIRST)} {chance.choice(LAST)}"] if chance.random() < 0.3 else []))
    asked = chance.choice(("What is the title of {} {}?", "What is {} {} about?", "What is {} {} called?"))
    return asked.format(part.lower(), number), asked.format(part.lower(), number + chance.randint(1, 5)), text


def notice():
    place, day = chance.choice(PLACES), chance.choice("Monday Tuesday Wednesday Thursday Friday Saturday Sunday".split())
    hour = chance.randint(1, 12)
    kind, absent = chance.sample(("concert", "meeting", "market", "workshop", "sale", "train", "lecture", "match"), 2)
    text = joined([kind.capitalize(), f"{place}", f"{day} {hour} {chance.choice(('am', 'pm'))}"])
    asked = chance.choice(("When is the {}?", "Where is the {}?", "On which day is the {}?", "At what time is the {}?"))
    return asked.format(kind), asked.format(absent), text


def menu():
    words = chance.sample(MENUS, chance.randint(4, 9))
    title = f"{chance.choice('report notes budget holiday final draft'.split())}.{chance.choice(('txt', 'pdf', 'py', 'csv'))}"
    text = joined([title, *words])
    right = chance.choice(("What is the name of the file?", "Which file is open?"))
    wrong = chance.choice(("Who wrote the file?", "How large is the file?", f"How many {words[0].lower()}s are there?",
                           f"Why is there a {words[1].lower()} button?", "When was the file saved?"))  # fmt: skip
    return right, wrong, text


def on_screen(count):
    """Questions about text on screen, each with one that the text does not answer."""
    found = []
    for _ in range(count):
        right, wrong, text = chance.choice((caption, caption, prices, row, row, heading, notice, menu))()
        found += [(right, text, 1, "screen"), (wrong, text, 0, "screen")]
    return found
