"""The classification tables of the paper."""

from functools import partial

from keras_vaf.datasets.catalogue import columns, files
from keras_vaf.datasets.catalogue.entry import Entry, Size, Source
from keras_vaf.datasets.catalogue.publishers import (
    UCI,
    UCI_CITATION,
    UCI_LICENCE,
    text_source,
)
from keras_vaf.datasets.parsers import (
    read_arff,
    read_wine_of_scikit_learn,
    read_workbook,
)

CLASSIFICATION = (
    Entry(
        name="sensorless",
        paper_name="Sensorless",
        size=Size(58509, 48, 11),
        paper_size=Size(58509, 49, 11),
        difference="The paper counts the class among the inputs.",
        publisher=UCI + "325/dataset+for+sensorless+drive+diagnosis",
        licence=UCI_LICENCE,
        citation="M. Bator, 2015. " + UCI_CITATION,
        sources=(
            text_source(files.SENSORLESS, names=columns.SENSORLESS),
            text_source(
                files.SENSORLESS_SUBSET,
                names=columns.SENSORLESS,
                rows=2200,
                note=(
                    "a subset of 2200 of the 58509 rows: results are not comparable "
                    "with the paper's"
                ),
            ),
        ),
        target="class",
        labels=tuple(str(label) for label in range(1, 12)),
    ),
    Entry(
        name="liver",
        paper_name="Liver",
        size=Size(345, 6, 2),
        paper_size=Size(345, 7, 2),
        difference=(
            "The paper counts the class among the inputs. The class is a selector "
            "which, the publisher says, marks a split and not a disorder."
        ),
        publisher=UCI + "60/liver+disorders",
        licence=UCI_LICENCE,
        citation="BUPA Medical Research Ltd., 1990. " + UCI_CITATION,
        sources=(text_source(files.LIVER, separator=",", names=columns.LIVER),),
        target="selector",
        labels=("1", "2"),
    ),
    Entry(
        name="wine",
        paper_name="Wine",
        size=Size(178, 13, 3),
        publisher=UCI + "109/wine",
        licence=UCI_LICENCE,
        citation="S. Aeberhard, M. Forina, 1992. " + UCI_CITATION,
        sources=(
            text_source(files.WINE, separator=",", names=columns.WINE),
            Source(read_wine_of_scikit_learn, package="sklearn"),
        ),
        target="class",
        labels=("1", "2", "3"),
    ),
    Entry(
        name="image_segmentation",
        paper_name="Statlog Image Segmentation",
        size=Size(2310, 19, 7),
        publisher=UCI + "147/statlog+image+segmentation",
        licence=UCI_LICENCE,
        citation="Vision Group, University of Massachusetts, 1990. " + UCI_CITATION,
        sources=(
            text_source(files.IMAGE_SEGMENTATION, names=columns.IMAGE_SEGMENTATION),
        ),
        target="class",
        labels=tuple("1234567"),
        class_names=(
            "brickface",
            "sky",
            "foliage",
            "cement",
            "window",
            "path",
            "grass",
        ),
    ),
    Entry(
        name="landsat_satellite",
        paper_name="Statlog Landsat Satellite",
        size=Size(6435, 36, 6),
        paper_size=Size(6435, 36, 7),
        difference="The publisher numbers 7 classes; the sixth has no rows.",
        publisher=UCI + "146/statlog+landsat+satellite",
        licence=UCI_LICENCE,
        citation="A. Srinivasan, 1993. " + UCI_CITATION,
        sources=(
            text_source(
                files.LANDSAT_TRAINING,
                files.LANDSAT_TEST,
                names=columns.LANDSAT_SATELLITE,
            ),
        ),
        target="class",
        labels=tuple("123457"),
        class_names=(
            "red soil",
            "cotton crop",
            "grey soil",
            "damp grey soil",
            "soil with vegetation stubble",
            "very damp grey soil",
        ),
        test_rows=2000,
    ),
    Entry(
        name="cardiotocography",
        paper_name="Cardiotocography",
        size=Size(2126, 21, 3),
        paper_size=Size(2126, 22, 3),
        difference="The paper's 22nd input is probably CLASS, which gives NSP away.",
        publisher=UCI + "193/cardiotocography",
        licence=UCI_LICENCE,
        citation="D. Campos, J. Bernardes, 2010. " + UCI_CITATION,
        sources=(
            text_source(files.CARDIOTOCOGRAPHY_CSV, separator=","),
            Source(
                partial(
                    read_workbook,
                    sheet="Data",
                    first_row=2,
                    first_column=11,
                    names=columns.CARDIOTOCOGRAPHY,
                ),
                (files.CARDIOTOCOGRAPHY_WORKBOOK,),
            ),
        ),
        target="NSP",
        labels=("1", "2", "3"),
        class_names=("normal", "suspect", "pathologic"),
        left_out={"CLASS": "another classification of the same row"},
    ),
    Entry(
        name="seismic_bumps",
        paper_name="Seismic bumps",
        size=Size(2584, 18, 2),
        publisher=UCI + "266/seismic+bumps",
        licence=UCI_LICENCE,
        citation=(
            "M. Sikora, L. Wrobel, Application of rule induction algorithms for "
            "analysis of data collected by seismic hazard monitoring systems in coal "
            "mines, Archives of Mining Sciences 55, 2010"
        ),
        sources=(Source(read_arff, (files.SEISMIC_BUMPS,)),),
        target="class",
        labels=("0", "1"),
        class_names=("not hazardous", "hazardous"),
        categories={
            "seismic": tuple("abcd"),
            "seismoacoustic": tuple("abcd"),
            "shift": ("W", "N"),
            "ghazard": tuple("abcd"),
        },
    ),
    Entry(
        name="dermatology",
        paper_name="Dermatology",
        size=Size(366, 34, 6),
        paper_size=Size(336, 35, 3),
        difference=(
            "The publisher's table has 366 rows and 6 classes; the paper says 336 rows "
            "and 3 classes, and counts the class among the inputs. Eight ages are "
            "missing."
        ),
        publisher=UCI + "33/dermatology",
        licence=UCI_LICENCE,
        citation="N. Ilter, H. Guvenir, 1998. " + UCI_CITATION,
        sources=(
            text_source(files.DERMATOLOGY, separator=",", names=columns.DERMATOLOGY),
        ),
        target="class",
        labels=tuple("123456"),
        class_names=(
            "psoriasis",
            "seborrheic dermatitis",
            "lichen planus",
            "pityriasis rosea",
            "chronic dermatitis",
            "pityriasis rubra pilaris",
        ),
        missing=("?",),
    ),
    Entry(
        name="diabetic_retinopathy",
        paper_name="Diabetic retinopathy debrecen",
        size=Size(1151, 19, 2),
        difference="The columns have numbers for names; 19 is the class.",
        publisher=UCI + "329/diabetic+retinopathy+debrecen",
        licence=UCI_LICENCE,
        citation=(
            "B. Antal, A. Hajdu, An ensemble-based system for automatic screening of "
            "diabetic retinopathy, Knowledge-Based Systems 60, 2014"
        ),
        sources=(Source(read_arff, (files.DIABETIC_RETINOPATHY,)),),
        target="19",
        labels=("0", "1"),
        class_names=("no signs", "signs of retinopathy"),
    ),
    Entry(
        name="qsar_biodegradation",
        paper_name="QSAR biodegradation",
        size=Size(1055, 41, 2),
        publisher=UCI + "254/qsar+biodegradation",
        licence=UCI_LICENCE,
        citation=(
            "K. Mansouri et al., Quantitative structure-activity relationship models "
            "for ready biodegradability of chemicals, Journal of Chemical Information "
            "and Modeling 53, 2013"
        ),
        sources=(
            text_source(
                files.QSAR_BIODEGRADATION,
                separator=";",
                names=columns.QSAR_BIODEGRADATION,
            ),
        ),
        target="class",
        labels=("NRB", "RB"),
        class_names=("not ready biodegradable", "ready biodegradable"),
    ),
    Entry(
        name="climate_crashes",
        paper_name="Climate model simulation",
        size=Size(540, 18, 2),
        publisher=UCI + "252/climate+model+simulation+crashes",
        licence=UCI_LICENCE,
        citation=(
            "D. Lucas et al., Failure analysis of parameter-induced simulation crashes "
            "in climate models, Geoscientific Model Development 6, 2013"
        ),
        sources=(text_source(files.CLIMATE_CRASHES),),
        target="outcome",
        labels=("0", "1"),
        class_names=("failure", "success"),
        left_out={
            "Study": "identifies the study",
            "Run": "identifies the simulation",
        },
    ),
)
